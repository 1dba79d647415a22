"""The sheet on which a picture is laid out, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from webapp.charts.style import colour, mark
from webapp.drawing import style
from webapp.drawing.axes import draw_axes
from webapp.drawing.picture import Picture
from webapp.drawing.style import PX_PER_INCH, Shape
from webapp.drawing.traces import Link, draw_trace, marker_of
from webapp.drawing.wrapping import Ruler

_MARGIN = 16  # px around everything
_LINE = 1.4  # of the size of text, from one line to the next
_KEY_GAP, _MARK_ROOM = 22, 18  # px at the page's size: from one name to the next, from a mark to its name
_SMALLEST_PLOT = 220  # px that a figure of a given height keeps for its plot


class Sheet:
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
