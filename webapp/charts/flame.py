"""Sampled call stacks as a flame chart: every function below its caller, as wide as its share of the samples. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from results.domain.measurement.call_stacks import SEPARATOR, Stacks
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from webapp.charts.style import Figure, escape, layout

LEVEL = 21  # px
MOST_BOXES = 2500
SMALLEST_SHARE = 0.0005  # of all samples, half a pixel of a wide screen
EVERYTHING = _("all samples")
# How a process comes to its own main function: of no interest, and the same in every stack of its kind.
_STARTING = frozenset(
    (
        "_start",
        "main",
        "PostmasterMain",
        "ServerLoop",
        "BackendStartup",
        "BackendRun",
        "BackendMain",
        "StartChildProcess",
        "StartBackgroundWorker",
        "BackgroundWorkerMain",
        "postmaster_child_launch",
        "maybe_start_bgworkers",
        "AuxiliaryProcessMain",
        "do_start_bgworker",
        "sigusr1_handler",
        "reaper",
        "process_pm_child_exit",
        "process_pm_pmsignal",
        "LaunchMissingBackgroundProcesses",
    )
)
_LOOKED_AT = 16


@dataclass
class Box:
    """One function below its callers.

    count: samples in it and below.
    own: in itself."""

    name: str
    count: int = 0
    own: int = 0
    children: dict[str, Box] = field(default_factory=dict)


def flame_figure(stacks: Stacks) -> Figure:
    """An icicle, callers above. The smallest siblings are drawn together, so that widths still add up."""
    root = tree(stacks)
    least = max(1.0, SMALLEST_SHARE * root.count)
    boxes = list(_drawn(root, least))
    while len(boxes) > MOST_BOXES:
        least *= 1.5
        boxes = list(_drawn(root, least))
    trace = {
        "type": "icicle",
        "ids": [str(number) for number in range(len(boxes))],
        "labels": [escape(localized(box.name)) for _, _, box in boxes],
        "parents": ["" if parent is None else str(parent) for parent, _, _ in boxes],
        "values": [box.count for _, _, box in boxes],
        "customdata": [box.own for _, _, box in boxes],
        "branchvalues": "total",
        "leaf": {"opacity": 1},
        "marker": {
            "colors": [_colour(box.name, depth) for _, depth, box in boxes],
            "line": {"color": "var(--paper)", "width": 1},
        },
        "textfont": {"color": "var(--ink)", "size": 12},
        "outsidetextfont": {"color": "var(--ink)", "size": 12},
        "textposition": "middle left",
        "tiling": {"orientation": "v", "pad": 0},
        "pathbar": {"thickness": LEVEL, "side": "top", "textfont": {"color": "var(--ink)", "size": 12}},
        "hovertemplate": gettext(
            "<b>%{label}</b><br>%{percentRoot:.1%}: %{value:,} samples, %{customdata:,} in itself<extra></extra>"
        ),
    }
    levels = 1 + max(depth for _, depth, _ in boxes)
    shape: dict[str, Any] = {
        "margin": {"l": 0, "r": 0, "t": LEVEL + 4, "b": 0},
        "uniformtext": {"minsize": 10, "mode": "hide"},
    }
    return {"data": [trace], "layout": layout(levels * LEVEL + LEVEL + 4, **shape)}


def tree(stacks: Stacks) -> Box:
    """The kinds of processes below the root, their functions below them, without what starts a process."""
    root = Box(EVERYTHING)
    for stack, count in stacks.items():
        kind, *functions = stack.split(SEPARATOR)
        root.count += count
        box = root
        for name in (kind, *_of_interest(functions)):
            box = box.children.setdefault(name, Box(name))
            box.count += count
        box.own += count
    return root


def _of_interest(functions: list[str]) -> list[str]:
    starting = [
        index
        for index, name in enumerate(functions[:_LOOKED_AT])
        if name in _STARTING or name.startswith("__libc_start")
    ]
    shown = functions[starting[-1] + 1 :] if starting else functions
    return shown or functions[-1:]


def _drawn(root: Box, least: float) -> Iterator[tuple[int | None, int, Box]]:
    """(the caller's number, depth, box), numbered in this order."""
    number = 0
    waiting: list[tuple[int | None, int, Box]] = [(None, 0, root)]
    while waiting:
        parent, depth, box = waiting.pop()
        yield parent, depth, box
        children = sorted(box.children.values(), key=lambda child: (-child.count, child.name))
        small = [child for child in children if child.count < least]
        shown = [child for child in children if child.count >= least]
        if small:
            sum_of_small = sum(child.count for child in small)
            shown.append(small[0] if len(small) == 1 else Box(_("{number} smaller", number=len(small)), sum_of_small))
        waiting += [(number, depth + 1, child) for child in reversed(shown)]
        number += 1


def _colour(name: str, depth: int) -> str:
    """By where a function lives; neighbours of one place differ in depth of colour, by their names."""
    shade = 26 + 4 * (zlib.crc32(name.encode()) % 6)
    if depth < 2:
        return "var(--s2) 34%" if depth else "var(--s0) 12%"
    if name.endswith("[kernel]"):
        return f"var(--s1) {shade}%"
    if name.startswith("[") or name.endswith(" smaller"):
        return f"var(--s0) {shade - 10}%"
    if name.endswith("]"):
        return f"var(--s3) {shade}%"
    return f"var(--s5) {shade}%"
