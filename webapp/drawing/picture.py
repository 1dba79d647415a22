"""A picture that can stand alone: title, key, the figure, its caption and where it is from."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from results.domain.errors import TeitenError
from webapp.charts.style import Figure, colour, mark
from webapp.drawing import style
from webapp.drawing.axes import draw_axes
from webapp.drawing.style import PX_PER_INCH, Shape
from webapp.drawing.traces import Link, draw_trace, marker_of
from webapp.drawing.wrapping import Ruler

TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_MARGIN = 16  # px around everything
_LINE = 1.4  # of the size of text, from one line to the next
_KEY_GAP, _MARK_ROOM = 22, 18  # px at the page's size: from one name to the next, from a mark to its name
_PNG_DPI = 192
_HIGHEST = 6000  # px
_SMALLEST_PLOT = 220  # px that a figure of a given height keeps for its plot


@dataclass(frozen=True)
class Picture:
    """What is drawn.

    figure: as Plotly reads it.
    key: (colour and mark, name) of each series.
    blocks: the key's marks are squares of a colour, as of stacked bars.
    caption: what was measured, on what.
    source: the line that says where the numbers are from.
    facts: the provenance that goes into the file beside what is seen.
    link: into which a trial's number is put in place of {}; '' for none."""

    title: str
    figure: Figure
    key: Sequence[tuple[int, str]] = ()
    blocks: bool = False
    caption: str = ""
    source: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    link: str = ""


def draw(picture: Picture, form: str = "svg", shape: Shape = style.SHAPES["page"]) -> bytes:
    """Return the picture as a file. Raises TeitenError for a form that there is not.

    form: svg, png or pdf"""
    if form not in TYPES:
        raise TeitenError(f"There is no figure as {form!r}.", where="form", todo=f"There are {', '.join(TYPES)}.")
    if (height := picture.figure["layout"]["height"]) > _HIGHEST:
        raise TeitenError(
            f"The figure is {height:,} px high.",
            where="figure",
            why=f"Figures of up to {_HIGHEST:,} px are drawn as files.",
            todo="Filter the comparison, so that it has fewer rows.",
        )
    style.prepare()
    canvas = _Sheet(picture, shape).made()
    file = io.BytesIO()
    canvas.savefig(file, format=form, dpi=_PNG_DPI if form == "png" else PX_PER_INCH, metadata=_metadata(picture, form))
    return file.getvalue()


def _metadata(picture: Picture, form: str) -> dict[str, Any]:
    facts = json.dumps(picture.facts, ensure_ascii=True, separators=(",", ":"))
    if form == "pdf":
        return {"Title": picture.title, "Subject": picture.source, "Keywords": facts, "CreationDate": None}
    named = {"Title": picture.title, "Description": facts, "Source": picture.source}
    return named | {"Date": None} if form == "svg" else named


class _Sheet:
    """A sheet that is filled from the top and from the bottom; what is left is the plot's."""

    def __init__(self, picture: Picture, shape: Shape) -> None:
        self.picture, self.shape = picture, shape
        self.canvas = Canvas(figsize=(shape.width / PX_PER_INCH, 1), dpi=PX_PER_INCH, facecolor="white")
        self.ruler = Ruler()
        self.inner = shape.width - 2 * _MARGIN

    def made(self) -> Canvas:
        text = self.shape.text
        title = self.ruler.wrapped(self.picture.title, text * 1.35, self.inner, bold=True)
        caption = self.ruler.wrapped(self.picture.caption, text * 0.92, self.inner)
        source = self.ruler.wrapped(self.picture.source, text * 0.8, self.inner)
        rows = self._key_rows()
        gap = 8 * self.shape.scale
        top = _MARGIN + self._px(text * 1.35, len(title)) + self._px(text, len(rows)) * 1.15 + gap
        below = [self._px(text * 0.92, len(caption)), self._px(text * 0.8, len(source))]
        bottom = _MARGIN + sum(below) + gap * (bool(caption) + bool(source))
        height = self._height(top + bottom)
        self.canvas.set_size_inches(self.shape.width / PX_PER_INCH, height / PX_PER_INCH)
        y = self._write(title, text * 1.35, _MARGIN, "var(--ink)", weight="bold")
        self._draw_key(rows, y + gap / 2)
        y = self._write(caption, text * 0.92, height - bottom + gap, "var(--ink)")
        self._write(source, text * 0.8, height - _MARGIN - below[1], "var(--faint)")
        self._plot(top, bottom, height)
        return self.canvas

    def _height(self, texts: float) -> float:
        own = self.picture.figure["layout"]["height"] * self.shape.scale
        if not self.shape.height:
            return float(texts + own)
        return max(self.shape.height, texts + _SMALLEST_PLOT)

    def _px(self, size: float, lines: int) -> float:
        return size * _LINE * PX_PER_INCH / 72 * lines

    def _write(self, lines: Sequence[str], size: float, y: float, ink: str, **look: Any) -> float:
        """Write lines below each other from y px below the top; return where the next would stand."""
        height = self.canvas.get_figheight() * PX_PER_INCH
        for line in lines:
            place = (_MARGIN / self.shape.width, 1 - y / height)
            self.canvas.text(*place, line, fontsize=size, color=style.colour(ink)[0], va="top", **look)
            y += self._px(size, 1)
        return y

    def _key_rows(self) -> list[list[tuple[float, int, str]]]:
        """Rows of (x, index, name): as many names in each as there is room for."""
        if len(self.picture.key) < 2 and not any(name for _, name in self.picture.key):
            return []
        rows: list[list[tuple[float, int, str]]] = [[]]
        x = float(_MARGIN)
        for index, name in self.picture.key:
            width = (_MARK_ROOM + _KEY_GAP) * self.shape.scale + self.ruler.width(name, self.shape.text)
            if rows[-1] and x + width > self.shape.width:
                rows.append([])
                x = float(_MARGIN)
            rows[-1].append((x, index, name))
            x += width
        return rows

    def _draw_key(self, rows: Sequence[Sequence[tuple[float, int, str]]], y: float) -> None:
        width, height = self.shape.width, self.canvas.get_figheight() * PX_PER_INCH
        line = self._px(self.shape.text, 1) * 1.15
        room = _MARK_ROOM * self.shape.scale
        for number, row in enumerate(rows):
            middle = 1 - (y + (number + 0.5) * line) / height
            for x, index, name in row:
                face = style.colour(colour(index))[0]
                ends = [(x + 1) / width, (x + room - 5) / width]
                if not self.picture.blocks:
                    dashes = style.dash(index, self.shape)
                    stroke = Line2D(ends, [middle] * 2, color=face, linewidth=1.2 * self.shape.scale, linestyle=dashes)
                    self.canvas.add_artist(stroke)
                glyph = "s" if self.picture.blocks else marker_of(mark(index))
                size = self.shape.text * 0.7
                dot = Line2D([sum(ends) / 2], [middle], marker=glyph, markersize=size, color=face, linestyle="none")
                self.canvas.add_artist(dot)
                place = ((x + room) / width, middle)
                self.canvas.text(
                    *place, name, fontsize=self.shape.text, va="center", color=style.colour("var(--ink)")[0]
                )

    def _plot(self, top: float, bottom: float, height: float) -> None:
        left, width = _MARGIN / self.shape.width, self.inner / self.shape.width
        rect = (left, bottom / height, width, 1 - (top + bottom) / height)
        self.canvas.set_layout_engine(ConstrainedLayoutEngine(rect=rect, w_pad=0, h_pad=0))
        axes = self.canvas.add_subplot()
        figure = self.picture.figure
        for trace in figure["data"]:
            draw_trace(axes, trace, self.shape, self._link())
        margin = figure["layout"]["margin"]
        draw_axes(axes, figure["layout"], self.shape, self.inner - margin["l"] * self.shape.scale)

    def _link(self) -> Link | None:
        address = self.picture.link
        return (lambda number: address.replace("{}", str(number))) if address else None
