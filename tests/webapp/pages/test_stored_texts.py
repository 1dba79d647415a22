"""What a trial stored as text is shown in the language of who reads its page."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils.translation import override

from results import ingest, models
from results.domain.measurement.parsed_trial import Check, Event, Gap
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.stored_texts import made_of
from tests import factories
from tests.newest_answers import newest_answers
from tests.page_text import page_text
from tests.series_rows import change_series
from webapp.charts.topology import draw

REASON = _("no whole second of sar lies inside the window of {length:.1f} s", length=0.4)
CHANGES: dict[str, Any] = {
    "gaps": (Gap("sar", "primary", REASON),),
    "checks": (Check(_("setting {name}", name="work_mem"), "primary", "4MB", "4MB", True),),
    "events": (Event(1.0, "primary", "background", _("{statement} starting", statement="VACUUM")),),
}


@pytest.fixture
def trial(db: None) -> models.Trial:
    trial = factories.run().trials.select_related("configuration").order_by("position").first()
    assert trial is not None
    factories.finish(trial, **CHANGES)
    return trial


def text_of(client: Client, trial: models.Trial, language: str = "ja") -> str:
    answer = client.get(f"/trials/{trial.pk}/", headers={"Accept-Language": language})
    assert answer.status_code == 200
    return page_text(answer)


def change(trial: models.Trial, **rows: Any) -> None:
    models.Attempt.objects.filter(trial=trial).update(**rows)


def test_texts_with_values_are_in_the_readers_language(trial: models.Trial, stranger: Client) -> None:
    text = text_of(stranger, trial)
    assert "0.4秒の測定区間に、sarの1秒が丸ごと入りません" in text
    assert "設定work_mem" in text
    assert "VACUUMの開始" in text  # in the list, and where it is marked in the figure
    assert json.dumps("VACUUMの開始").strip('"') in text
    assert "no whole second of sar" not in text
    english = text_of(stranger, trial, "en")
    for expected in ("no whole second of sar lies inside the window of 0.4 s", "setting work_mem", "VACUUM starting"):
        assert expected in english


def test_rows_from_before_are_shown_in_english(trial: models.Trial, stranger: Client) -> None:
    change(trial, gaps=[{"source": "sar", "node": "primary", "reason": str(REASON)}])
    assert "no whole second of sar lies inside the window of 0.4 s" in text_of(stranger, trial)


def test_a_track_that_is_missing_says_why_in_the_readers_language(trial: models.Trial, stranger: Client) -> None:
    change_series(lambda one: () if one.name.startswith("cpu") else (one,), trial=trial)
    assert text_of(stranger, trial).count("0.4秒の測定区間に、sarの1秒が丸ごと入りません") == 2


@pytest.mark.parametrize(
    "message",
    [
        {"id": "{a.__class__.__mro__}", "values": {"a": {"id": "x"}}},
        {"id": "{a}" * 1000, "values": {"a": {"id": "{b}" * 1000, "values": {"b": "x" * 1000}}}},
        {"id": ["x"], "values": 5},
        "junk",
    ],
)
def test_a_hostile_message_is_not_shown(message: Any, trial: models.Trial, stranger: Client) -> None:
    reason = "<b>sar</b> was lost"
    change(
        trial,
        gaps=[{"source": "sar", "node": "primary", "reason": reason, "messages": {"reason": message}}],
        notes={"stalls": [{"phase": "load", "seconds": 9, "lines": [reason], "messages": {"0": message}}]},
    )
    assert text_of(stranger, trial).count("&lt;b&gt;sar&lt;/b&gt; was lost") == 2


def test_a_warehouse_from_before_differs_in_no_text_from_its_bundles(trial: models.Trial) -> None:
    attempt = models.Attempt.objects.get(trial=trial)
    assert "messages" in attempt.gaps[0]
    for name in ("gaps", "checks", "events"):
        rows = [{key: value for key, value in row.items() if key != "messages"} for row in getattr(attempt, name)]
        change(trial, **{name: rows})
    read = replace(factories.parsed(trial, 1, factories.usual_tps(trial)), **CHANGES)
    assert ingest.differences(read, attempt.pk) == []


def test_the_arrow_of_a_stream_is_called_in_the_readers_language(db: None, stranger: Client) -> None:
    agents = {"client": "db1", "primary": "db1", "standby1": "db1"}
    checks = [
        {"name": _("stream from {node}", node="primary"), "node": "standby1", "actual": "streaming", "passed": True}
    ]
    drawing = draw({"agents": agents, "installation": {"version": "16.9"}, "parameters": {}}, checks, (), (), None)
    assert drawing is not None
    [edge] = drawing.rows[-1].received
    with override("ja"):
        assert (edge.text, localized(edge.text)) == (
            "stream from primary: streaming",
            "primaryからのストリーム：streaming",
        )


def test_an_answer_to_a_check_of_capabilities_is_in_the_readers_language(db: None, stranger: Client) -> None:
    message = _("{launched} of {planned} workers.", launched=1, planned=2)
    trial = factories.capability_run({"parallel": "partly", "toast": "partly"}, message=message)
    document = models.Document.objects.get(label="parallel")
    document.content |= made_of({"message": message})
    document.save()
    text = text_of(stranger, trial)
    assert "2ワーカーのうち1ワーカーが起動しました。" in text
    assert "1 of 2 workers." in text  # of the other, as those from before are
    [row] = [row for row in newest_answers() if row.capability == "parallel"]
    with override("ja"):
        assert (row.message, localized(row.message)) == ("1 of 2 workers.", "2ワーカーのうち1ワーカーが起動しました。")
    answer = stranger.get("/api/v1/capabilities/", headers={"Accept-Language": "ja"}).json()
    assert {one["message"] for one in answer["results"]} == {"1 of 2 workers."}
    assert "messages" not in answer["results"][0]


def test_what_a_check_compared_is_in_the_readers_language(db: None, stranger: Client) -> None:
    compared = _("{what}: {number} rows", what="items", number=2000)
    trial = factories.capability_run({"parallel": "yes"}, compared=compared)
    document = models.Document.objects.get(label="parallel")
    document.content |= made_of({"compared": compared})
    document.save()
    assert "items：2000行" in text_of(stranger, trial)
