"""What a drawn figure looks like: its sizes, its type faces, and the page's light colours."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings

from results.domain.errors import TeitenError
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _

LETTERS_OF_JAPANESE = r"\u3000-\u9fff\uff00-\uffef"  # in a class of a regular expression
_JAPANESE = re.compile(rf"[{LETTERS_OF_JAPANESE}]")
_COLOUR = re.compile(r"var\((--[\w-]+)\)(?: (\d+)%)?")
_TOKEN = re.compile(r"(--[\w-]+): light-dark\((#[0-9a-f]{3,6}),")
_DASHES = ("-", (0, (6, 2)), (0, (6, 2, 1.5, 2)), (0, (1.5, 1.8)))
SANS, JAPANESE = "DejaVu Sans", "IPAexGothic"
NOTO = "Noto Sans CJK JP"  # Japanese as well, in two weights; where the distribution's package of it is installed
_NOTO_FILES = ("NotoSansCJK-Regular.ttc", "NotoSansCJK-Bold.ttc")
_FONT_FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
PX_PER_INCH = 96


@dataclass(frozen=True)
class Shape:
    """What a figure is drawn for.

    width, height: in px of 1/96 inch; a height of 0 is as high as the figure needs.
    text: size of its letters in points.
    dashed: tells lines apart by their strokes as well, for a print without colours."""

    name: str
    width: int
    height: int
    text: float
    dashed: bool = False

    @property
    def scale(self) -> float:
        """Of what the page's figures are made for."""
        return self.text / 9


IN_TEXT = Shape("text", 643, 0, 8)  # 17 cm: the text of an A4 page
SHAPES = {
    shape.name: shape
    for shape in (
        Shape("page", 800, 0, 9),
        Shape("slide", 1280, 720, 15),
        replace(IN_TEXT, name="print", dashed=True),
    )
}


def shape_named(name: str) -> Shape:
    """'' is the page's. Raises TeitenError."""
    if (name or "page") not in SHAPES:
        raise TeitenError(
            _("There is no shape {name!r}.", name=name),
            where="shape",
            todo=_("There are {names}.", names=linked(COMMA, SHAPES)),
        )
    return SHAPES[name or "page"]


@cache
def prepare() -> None:
    """Tell matplotlib its type faces, once."""
    import matplotlib
    from matplotlib import font_manager

    for path in (japanese_font(), *noto_fonts()):
        font_manager.fontManager.addfont(path)
    matplotlib.rcParams.update(
        {
            "font.family": faces(),
            "svg.fonttype": "path",
            "svg.hashsalt": "teiten",  # the same figure is the same file
            "pdf.fonttype": 42,
            "axes.unicode_minus": True,
            "text.parse_math": False,  # a name with a $ in it is a name
        }
    )


def faces(form: str = "") -> list[str]:
    """Return the type faces of a file of this form: each has letters that those before it lack. matplotlib calls the
    outlines of Noto Sans CJK in a PDF what they are not, which some readers refuse."""
    return [SANS, NOTO, JAPANESE] if noto_fonts() and form != "pdf" else [SANS, JAPANESE]


@cache
def noto_fonts() -> tuple[Path, ...]:
    """The files of Noto Sans CJK, regular and bold; none where one of them is not installed."""
    paths = [next((path for folder in _FONT_FOLDERS for path in folder.rglob(name)), None) for name in _NOTO_FILES]
    return tuple(path for path in paths if path) if all(paths) else ()


def japanese_font() -> Path:
    """The file of IPAexGothic that the package matplotlib-fontja brings; importing that would change every figure."""
    found = find_spec("matplotlib_fontja")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("matplotlib-fontja is not installed: pip install -r requirements.txt")
    return Path(found.submodule_search_locations[0]) / "fonts" / "ipaexg.ttf"


@cache
def _tokens() -> dict[str, str]:
    """The style sheet's name of a colour → the one of its light theme."""
    return dict(_TOKEN.findall((settings.BASE_DIR / "static" / "css" / "tokens.css").read_text(encoding="utf-8")))


def colour(words: str) -> tuple[Any, float]:
    """'var(--s1) 20%' → its colour, and its opacity from 0 to 1."""
    match = _COLOUR.fullmatch(words)
    if match is None:
        return ("none", 0.0) if words == "rgba(0,0,0,0)" else (words, 1.0)
    return _tokens()[match[1]], int(match[2] or 100) / 100


def dash(index: int, shape: Shape) -> Any:
    """How the index-th line is stroked."""
    return _DASHES[index % len(_DASHES)] if shape.dashed else "-"


def has_japanese(text: str) -> bool:
    return bool(_JAPANESE.search(text))
