"""A picture that can stand alone: title, key, the figure, its caption and where it is from. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.charts.style import Figure


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
