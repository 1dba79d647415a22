"""Text in lines that fit, measured with the letters that are drawn."""

from __future__ import annotations

import re
from typing import Any

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from webapp.drawing.style import LETTERS_OF_JAPANESE, PX_PER_INCH, prepare

# a word with the blanks behind it; Japanese breaks between any two letters, but not before or after some signs
_OPENING, _CLOSING = "「『（", "、。」』）：・ー々〜…？！ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
_LETTER = rf"[{LETTERS_OF_JAPANESE}]|[^\s{LETTERS_OF_JAPANESE}]+"
_PIECES = re.compile(rf"[{_OPENING}]*(?:{_LETTER})[{_CLOSING}]*\s*|\s+")

_FINER = 8  # than a px: a letter's width is rounded to what is measured in


class Ruler:
    """Measures text in px."""

    def __init__(self) -> None:
        prepare()
        self.renderer: Any = RendererAgg(1, 1, PX_PER_INCH * _FINER)

    def width(self, text: str, size: float, *, bold: bool = False) -> float:
        font = FontProperties(size=size, weight="bold" if bold else "normal")
        return float(self.renderer.get_text_width_height_descent(text, font, ismath=False)[0]) / _FINER

    def wrapped(self, text: str, size: float, width: float, *, bold: bool = False) -> list[str]:
        """Return the text in lines no wider than this, unless a word alone is."""
        lines = []
        for paragraph in filter(None, text.split("\n")):
            line = ""
            for piece in _PIECES.findall(paragraph):
                if line and self.width((line + piece).rstrip(), size, bold=bold) > width:
                    lines.append(line.rstrip())
                    line = ""
                line += piece
            lines.append(line.rstrip())
        return lines
