"""Lists that stand in the order of what is shown, in whatever language that is. Pure.

Letters stand without regard to case. Kana stand as in a dictionary (JIS X 4061): voiced, small and long ones as the
plain one, ー as the vowel that it lengthens. Programs do not know how kanji are read; they stand in the order of JIS X
0208, in which the common ones go by their readings, as in Unicode's order for Japanese (CLDR). Python's codec knows it:
a library (ICU) would bring system packages, for a few short lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar
from unicodedata import combining, normalize

T = TypeVar("T")
_KATAKANA = {ord(hiragana): ord(hiragana) + 0x60 for hiragana in map(chr, range(0x3041, 0x3097))}
_LARGE = str.maketrans("ァィゥェォッャュョヮ", "アイウエオツヤユヨワ")
_ENDING_IN = {
    "ア": "アカサタナハマヤラワ",
    "イ": "イキシチニヒミリ",
    "ウ": "ウクスツヌフムユル",
    "エ": "エケセテネヘメレ",
    "オ": "オコソトノホモヨロヲ",
}
_LONG = [(vowel, re.compile(f"(?<=[{kana}])ー")) for vowel, kana in _ENDING_IN.items()]


def by_text(items: Iterable[T], text: Callable[[T], str] = str, rank: Callable[[T], Any] = lambda item: 0) -> list[T]:
    """Return the items in the order of their texts.

    text: what is shown of an item, in the reader's language.
    rank: what goes before the text."""
    return sorted(items, key=lambda item: (rank(item), _place(text(item))))


@lru_cache(10_000)
def _place(text: str) -> tuple[bytes, str]:
    """Return what texts are compared by: their letters, then how these are written."""
    decomposed = normalize("NFKD", text).casefold().translate(_KATAKANA).translate(_LARGE)
    plain = "".join(letter for letter in decomposed if not combining(letter))
    for vowel, long in _LONG:
        plain = long.sub(vowel, plain)
    return b"".join(map(_jis, plain)), text


def _jis(letter: str) -> bytes:
    """Return a letter in the order of JIS X 0208; after these all others, in Unicode's."""
    try:
        return letter.encode("shift_jis")
    except UnicodeEncodeError:
        return b"\xff" + letter.encode()
