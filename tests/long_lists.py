"""Rows of the lists that grow with a warehouse. Those with times or years have all the same one, so that only the
key tells them apart."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from results import models

MOMENT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def plans(count: int) -> list[str]:
    """Names, in order."""
    made = [_plan(f"plan {number:03}") for number in range(count)]
    return [plan.name for plan in made]


def _plan(name: str, **rest: Any) -> models.Plan:
    return models.Plan.objects.create(name=name, workload="pgbench", toml="", hash="", **rest)


def imports(count: int) -> list[str]:
    """Slugs, the newest first."""
    return [_publication(f"import-{number:03}", program="pgbench") for number in range(count)][::-1]


def published(count: int) -> list[str]:
    """Slugs, in the order in which they were loaded; of two reports of the same year."""
    return [_publication(f"table-{count - number:03}") for number in range(count)]


def _publication(slug: str, program: str = "") -> str:
    texts = {"publisher": "WG", "place": slug, "caption": "c", "licence": "l", "file": "f", "sha256": "0"}
    publication = models.Publication.objects.create(slug=slug, title="A report", year=2012, program=program, **texts)
    models.Run.objects.create(
        publication=publication,
        name=slug,
        workload="pgbench",
        toml="",
        plan_hash="",
        seed=0,
        blocks=1,
        state="finished",
    )
    return slug


def citations(count: int) -> list[str]:
    """Hashes, the newest first."""
    hashes = [f"{(number * 7) % 1000:016x}" for number in range(count)]
    content = {"selection": {"runs": ["1"]}, "metric": {"label": "Transactions per second"}}
    models.Snapshot.objects.bulk_create(
        models.Snapshot(hash=hash_, query="run=1", attempts=[], rule=1, content=content) for hash_ in hashes
    )
    models.Snapshot.objects.update(created_at=MOMENT)
    return sorted(hashes, reverse=True)


def references(count: int) -> list[str]:
    """Names, in order."""
    snapshot = models.Snapshot.objects.get(pk=citations(1)[0])
    names = [f"reference-{number:03}" for number in range(count)]
    models.Reference.objects.bulk_create(models.Reference(name=name, snapshot=snapshot, series="s") for name in names)
    return names


def editions(count: int) -> list[str]:
    """Titles of the editions of so many reports, the newest first."""
    made = [_edition(models.Report.objects.create(), 1, f"edition {number:03}") for number in range(count)]
    return [edition.title for edition in made][::-1]


def _edition(report: models.Report, number: int, title: str) -> models.Edition:
    return models.Edition.objects.create(
        report=report,
        number=number,
        title=title,
        hash=title,
        content="[]",
        facts={},
        attempts=[],
        citations=[],
        rule=1,
        published_at=MOMENT,
    )


def drafts(count: int) -> list[str]:
    """Titles of the newest drafts of so many reports, the last saved first."""
    titles = [f"draft {number:03}" for number in range(count)]
    for title in titles:
        report = models.Report.objects.create(version=2)
        models.Draft.objects.create(report=report, version=1, title=f"older {title}")
        models.Draft.objects.create(report=report, version=2, title=title)
    models.Draft.objects.update(saved_at=MOMENT)
    return titles[::-1]
