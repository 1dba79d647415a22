"""The reports that a demo begins with are published from what its warehouse holds."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils.translation import override

from results.published.catalogue import TABLES
from results.published.load import load
from tests import factories
from webapp.reports import ready
from workers.registry import known_metrics

pytestmark = pytest.mark.django_db
SITE = "http://testserver"


def test_the_report_over_published_figures_has_every_block(db: Any) -> None:
    load(TABLES, known_metrics(), "tests")
    edition = ready.over_published(SITE, user=factories.member(), actor="tests")
    assert "cannot be shown" not in edition.content and "{{" not in edition.source
    assert edition.content.count('"svg"') == 4
    assert "7,204" in edition.content and "Published figures, not measured here" in edition.content.replace("\\", "")
    assert len(edition.citations) == 4
    assert ready.over_published(SITE, user=User.objects.get(), actor="tests").pk == edition.pk


def test_the_report_over_a_run_says_what_its_verdicts_say(db: Any) -> None:
    run = factories.finished_run(replicates=3, standing="kept")
    edition = ready.over_run(run, SITE, f"{SITE}/compare/", user=factories.member(), actor="tests")
    assert "is faster" in edition.content
    assert set(edition.attempts) >= set(run.trials.values_list("attempt_id", flat=True))


@pytest.mark.parametrize(("first", "other"), [("en", "ja"), ("ja", "en")])
def test_they_are_in_both_languages_and_begin_in_that_which_teiten_speaks(db: Any, first: str, other: str) -> None:
    load(TABLES, known_metrics(), "tests")
    run, user = factories.finished_run(replicates=3, standing="kept"), factories.member()
    with override(first):
        editions = [
            ready.over_published(SITE, user=user, actor="tests"),
            ready.over_run(run, SITE, f"{SITE}/compare/", user=user, actor="tests"),
        ]
    for edition in editions:
        assert edition.languages == [first, other]
        source, content = ({first: edition.source} | edition.sources, {first: edition.content} | edition.contents)
        assert "## 考察" in source["ja"] and "## Discussion" in source["en"]
        assert "表示できません" not in content["ja"] and "cannot be shown" not in content["en"]
        assert content["ja"].count('"svg"') == content["en"].count('"svg"') > 0
    published = {first: editions[0].content} | editions[0].contents
    assert "公表値（ここで測定していないもの）" in published["ja"]
    assert len(editions[0].citations) == 4
    with override(other):
        assert ready.over_published(SITE, user=user, actor="tests").pk == editions[0].pk
