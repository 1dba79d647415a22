"""Marks of what happened: each kind told apart, spans as long as is known, and no longer."""

from __future__ import annotations

import json
import re
from typing import Any

from plotly import graph_objects

from results.domain.measurement.series import Series
from webapp.charts.events import event_key, event_marks, marks
from webapp.charts.trial import timeline


def event(at_s: float, kind: str, text: str, node: str = "primary") -> dict[str, Any]:
    return {"at_s": at_s, "kind": kind, "node": node, "text": text}


def test_a_checkpoint_is_a_span_from_its_beginning_to_its_end() -> None:
    [mark] = marks(
        [event(5, "checkpoint", "checkpoint complete: wrote 3 buffers"), event(2, "checkpoint", "checkpoint starting:")]
    )
    assert (mark.at_s, mark.until_s) == (2, 5)
    assert mark.text == "checkpoint complete: wrote 3 buffers"


def test_an_end_without_a_beginning_and_a_beginning_without_an_end_are_moments() -> None:
    all_marks = marks([event(1, "checkpoint", "checkpoint complete"), event(8, "checkpoint", "checkpoint starting")])
    assert [(mark.at_s, mark.until_s) for mark in all_marks] == [(1, None), (8, None)]


def test_what_begins_on_one_server_does_not_end_on_another_nor_in_another_kind() -> None:
    all_marks = marks(
        [
            event(1, "checkpoint", "checkpoint starting"),
            event(2, "checkpoint", "restartpoint complete", node="standby"),
            event(3, "background", "CHECKPOINT complete"),
        ]
    )
    assert [mark.until_s for mark in all_marks] == [None, None, None]


def test_an_autovacuum_is_logged_at_its_end_and_shown_from_its_beginning() -> None:
    [mark] = marks([event(10, "autovacuum", 'automatic vacuum of table "t" (elapsed: 2.50 s)')])
    assert (mark.at_s, mark.until_s) == (7.5, 10)


def test_every_kind_has_a_mark_of_its_own_in_the_key() -> None:
    kinds = ["background", "checkpoint", "autovacuum", "error", "server"]
    key = event_key([event(1, kind, "") for kind in (*kinds, "checkpoint")])
    assert [kind for _, _, kind in key] == ["checkpoint", "autovacuum", "background", "error", "server"]
    assert len({glyph for _, glyph, _ in key}) == len({colour for colour, _, _ in key}) == 5


def test_lines_are_told_apart_without_colour_and_spans_are_shaded() -> None:
    shapes, glyphs, height_px = event_marks(
        [
            event(2, "checkpoint", "checkpoint starting"),
            event(5, "checkpoint", "checkpoint complete"),
            event(2, "background", "CHECKPOINT starting"),
        ]
    )
    lines = [shape for shape in shapes if shape["type"] == "line"]
    assert len({line["line"]["dash"] for line in lines}) == 2
    assert [(shape["x0"], shape["x1"]) for shape in shapes if shape["type"] == "rect"] == [(2, 5)]
    assert [glyph["x"] for glyph in glyphs] == [2, 2]
    first, second = (glyph["yshift"] for glyph in glyphs)
    assert 0 < abs(first - second) < height_px  # at one moment, above each other


def test_a_servers_words_never_become_markup() -> None:
    _, [glyph], _ = event_marks([event(1, "error", "ERROR: <b>no</b>")])
    assert "&lt;b&gt;no" in glyph["hovertext"]


def test_plotly_reads_the_marks_on_the_axis_of_the_rate() -> None:
    rate = Series("tps", "client", "tps", 1, 1, (1.0, 2.0, 3.0))
    events = [event(1, "checkpoint", "checkpoint starting"), event(2.5, "checkpoint", "checkpoint complete")]
    figure = timeline([rate], [], events, 3.0)
    assert figure is not None
    text = re.sub(r'"var\(--[\w-]+\)( \d+%)?"', '"#123456"', json.dumps(figure, allow_nan=False))
    read = graph_objects.Figure(json.loads(text))
    assert [shape.x0 for shape in read.layout.shapes] == [1, 1]
    assert read.layout.annotations[-1].hovertext == "checkpoint on primary, 1.00 s to 2.50 s<br>checkpoint complete"
