"""Texts that were stored are shown in the reader's language, whatever others wrote beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps

from results.domain.measurement import record_texts
from results.domain.measurement.activity import ActivitySample, NodeActivity, Sessions, stall_to_json, stalls_in
from results.domain.measurement.parsed_trial import Check, Event, Gap, PhaseTiming
from results.domain.messages import Message, linked, localized, use_catalogues
from results.domain.messages import gettext_lazy as _
from results.domain.stored_texts import made_of, with_texts

JAPANESE = {
    "{lost} samples are missing": "{lost}個の標本がありません",
    "stream from {node}": "{node}からのストリーム",
    "{statement} starting": "{statement}の開始",
    "none": "なし",
    "waiting for {wait}": "{wait}待ち",
    "it does not answer: {why}": "応答しません：{why}",
}
MISSING = _("{lost} samples are missing", lost=3)


@pytest.fixture(autouse=True)
def _japanese() -> Iterator[None]:
    use_catalogues(lambda _context, text: JAPANESE.get(text, text), lambda text, plural, number: plural)
    yield
    apps.get_app_config("results").ready()


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def again(name: str, record: Any) -> dict[str, Any]:
    [stored] = through_json(record_texts.to_json(name, [record]))
    [row] = record_texts.with_messages(name, [stored])
    return row


def test_records_keep_what_their_texts_were_made_of() -> None:
    gap = again("gaps", Gap("sar", "primary", MISSING))
    assert gap == {"source": "sar", "node": "primary", "reason": "3 samples are missing"}
    assert localized(gap["reason"]) == "3個の標本がありません"
    check = again("checks", Check(_("stream from {node}", node="primary"), "standby1", "streaming", _("none"), False))
    assert (check["name"], check["actual"], check["passed"]) == ("stream from primary", "none", False)
    assert [localized(check[name]) for name in ("name", "expected", "actual")] == [
        "primaryからのストリーム",
        "streaming",
        "なし",
    ]
    event = again("events", Event(1.5, "primary", "background", _("{statement} starting", statement="VACUUM")))
    assert localized(event["text"]) == "VACUUMの開始"


def test_what_has_no_text_for_people_is_stored_as_ever() -> None:
    assert record_texts.to_json("phases", [PhaseTiming("load", 1, 2)]) == [
        {"name": "load", "offset_s": 1, "seconds": 2, "ok": True}
    ]
    assert record_texts.to_json("gaps", [Gap("sar", "primary", "sar is not installed")]) == [
        {"source": "sar", "node": "primary", "reason": "sar is not installed"}
    ]


def test_a_text_without_values_is_its_own_id() -> None:
    assert made_of({"actual": _("none"), "node": "primary", "passed": True}) == {}


def test_secrets_are_in_neither() -> None:
    stored = made_of({"reason": _("{lost} samples are missing", lost="postgresql://me:hunter22@db1/x")})
    assert "hunter22" not in json.dumps(stored)


BOMB: dict[str, Any] = {"id": "x" * 100}
for _level in range(12):
    BOMB = {"id": "{a}" * 100, "values": {"a": BOMB}}
DEEP: dict[str, Any] = {"id": "deep"}
for _level in range(150):
    DEEP = {"id": "{a}", "values": {"a": DEEP}}


@pytest.mark.parametrize(
    "messages",
    [
        "junk",
        ["reason"],
        {"reason": None},
        {"reason": 5},
        {"reason": {}},
        {"reason": {"id": 7}},
        {"reason": {"id": "{a.__class__.__init__.__globals__}", "values": {"a": {"id": "x"}}}},
        {"reason": {"id": "{a[0]}", "values": {"a": "x"}}},
        {"reason": {"id": "{a:999999999}", "values": {"a": "x"}}},
        {"reason": {"id": "{a}", "values": "a"}},
        {"reason": {"id": "{a}", "values": {"a": [["x"] * 1000]}}},
        {"reason": {"id": "{a:c}", "values": {"a": 10**9}}},
        {"reason": {"id": "{a:f}", "values": {"a": 10**400}}},
        {"reason": {"id": "another text"}},
        {"reason": BOMB},
        {"reason": DEEP},
    ],
)
def test_whatever_others_wrote_beside_a_text_it_is_shown_as_it_is(messages: Any) -> None:
    row = {"source": "sar", "node": "primary", "reason": "3 samples are missing", "messages": messages}
    [shown] = record_texts.with_messages("gaps", [row])
    assert shown == {"source": "sar", "node": "primary", "reason": "3 samples are missing"}
    assert type(shown["reason"]) is Message
    assert localized(shown["reason"]) == "3 samples are missing"


def test_what_is_no_record_stays() -> None:
    rows = ["junk", None, {"reason": 5}]
    assert record_texts.with_messages("gaps", rows) == rows
    assert record_texts.holder_with_messages({"gaps": 7, "checks": ["junk"]}) == {"gaps": 7, "checks": ["junk"]}


def test_a_long_text_is_kept_in_english_alone() -> None:
    assert made_of({"reason": _("{lost} samples are missing", lost="x" * 9000)}) == {}
    assert with_texts({"reason": "x"}, ("reason",)) == {"reason": "x"}


def test_parts_that_are_linked_are_stored_as_one() -> None:
    gap = again("gaps", Gap("sar", "primary", linked("; ", [MISSING, _("none")])))
    assert localized(gap["reason"]) == "3個の標本がありません; なし"


SAMPLE = ActivitySample(
    "load",
    1000.0,
    (
        NodeActivity("primary", (Sessions(1, "active", "Lock: relation", 990.0, "SELECT 1"),), still_since_s=900.0),
        NodeActivity("standby1", trouble=_("it does not answer: {why}", why="timeout"), still_since_s=900.0),
    ),
)


def test_what_sessions_waited_for_is_in_the_readers_language() -> None:
    stored = through_json(SAMPLE.to_json())
    assert ActivitySample.from_json(stored) == SAMPLE
    assert "応答しません：timeout" in localized(ActivitySample.from_json(stored).lines[1])
    [stall] = stalls_in({"stalls": through_json([stall_to_json(900.0, SAMPLE)])})
    assert (stall["seconds"], stall["lines"]) == (100.0, list(SAMPLE.lines))
    assert "Lock: relation待ち" in localized(stall["lines"][0])


@pytest.mark.parametrize(
    ("stalls", "lines"),
    [
        (None, []),
        ("junk", []),
        (["junk", {"lines": 5}], [[]]),
        ([{"lines": ["one", 2], "messages": {"0": {"id": "{a.x}", "values": {"a": "one"}}}}], [["one", 2]]),
    ],
)
def test_whatever_a_bundle_notes_of_waits_does_no_harm(stalls: Any, lines: list[list[Any]]) -> None:
    assert [stall["lines"] for stall in stalls_in({"stalls": stalls})] == lines
