"""Every ready plan, really run at its smallest, opens on a comparison and on a view that answer what it asks.

What each shows is in test_recipe_findings; how the comparison of whole runs opens, in test_recipes_open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from results import agents, models, runs
from results.domain import plan as plans
from results.domain.measurement.metrics import Better
from results.domain.plan.recipes import Compare
from results.domain.states import TrialState
from results.queries.comparison.compare import Point, compare
from results.queries.presets.access_methods import access_methods
from results.queries.presets.topologies import topologies
from results.queries.presets.versions import versions
from results.queries.shared.selection import Selection
from tests.live.trials.conftest import run_next
from tests.live.trials.test_access_method import SMALL as SMALL_PROFILE
from tests.page_text import page_text
from tests.ready_plans import RECIPES, WITHOUT_NUMBERS, answers, compared, smaller
from webapp import urlstate
from workers.registry import kinds

SMALL_TPCC = {"customers_per_district": 30, "items": 200}
SMALL_SSB = {"passes": 1, "warmup_passes": 0}
VERSIONS = ("16", "18")
CLIENTS = {"clients": [1, 2]}
# Of each plan: its size, the levels that are left, and other changes; `versions` where these are not 16 and 18.
SMALLEST: dict[str, dict[str, Any]] = {
    "fdw-shards": {
        "versions": ("15", "17"),  # which have contrib modules
        "factors": {"topology.shards": [2], "clients": [1]},
    },
    "flash-append": {"factors": CLIENTS},
    "flash-oltp": {"factors": CLIENTS, "parameters": SMALL_TPCC},
    "logical-subscribers": {"factors": {"topology.subscribers": [1, 2], "topology.synchronous": ["off"]}},
    "own-queries": {"parameters": {"passes": 1}},
    "wg1-access-methods-zedstore": {"size": 2000, "versions": ("16",), "parameters": SMALL_PROFILE},
    "wg1-access-methods-zheap": {"size": 2000, "parameters": SMALL_PROFILE},
    "wg1-background-work": {
        "factors": {"background": ["none", "checkpoint"], "setting.autovacuum": ["off"]},
        "parameters": SMALL_TPCC | {"clients": 2, "background_at_s": 0},
    },
    "wg1-bulk-load": {"size": 2},
    "wg1-cascading": {"factors": {"standbys": ["0", "2"]}, "parameters": {"clients": 2}, "threads": "2"},
    "wg1-pgpool-read": {"factors": {"servers": ["1", "2"], "way": ["pgpool-II"]}},
    "wg1-pgpool-update": {"factors": {"servers": ["1", "2"], "way": ["direct", "pgpool-II"]}},
    "wg1-read-scaleup": {"factors": CLIENTS},
    "wg1-ssb-jit": {
        "size": 0.01,
        "versions": ("15",),  # which has LLVM
        "factors": {"clients": [2], "workers": ["9"]},
        "parameters": SMALL_SSB,
    },
    "wg1-ssb-parallel": {
        "size": 0.01,
        "factors": {"clients": [2], "workers": ["none", "9"]},
        "parameters": SMALL_SSB,
    },
    "wg1-tiny-tpcc": {"factors": CLIENTS, "parameters": SMALL_TPCC},
    "wg1-update-scaleup": {"factors": CLIENTS},
    "zfs-arc": {},
}
NOT_HERE = WITHOUT_NUMBERS | {"zfs-arc-matrix": "sets properties of ZFS"}


@pytest.mark.smoke
def test_every_ready_plan_is_run_here_or_said_why_it_is_not() -> None:
    assert sorted([*SMALLEST, *NOT_HERE]) == sorted(RECIPES)


@pytest.fixture(autouse=True)
def unfingerprinted_files(settings: Any) -> None:
    """Static files as they lie in the repository; pages of a server have been collected before."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


@pytest.fixture
def run_recipe(agent: models.Agent, request: pytest.FixtureRequest) -> Callable[[str], models.Run]:
    """Runs a ready plan, one replicate of each configuration."""

    def one(slug: str) -> models.Run:
        changes = dict(SMALLEST[slug])
        versions, factors = changes.pop("versions", VERSIONS), changes.pop("factors", {})
        methods = ("heap", "heap2") if RECIPES[slug].compare is Compare.BUILDS else ("heap",)
        if "17" in versions:
            agents.record_contact(agent.pk, request.getfixturevalue("every_version"), timezone.now())
        if "heap2" in methods:
            for version in versions:
                request.getfixturevalue("heap2")(version)
        chosen = compared(RECIPES[slug], versions, methods)
        mapping = RECIPES[slug].plan(size=changes.pop("size", 1), agents={"primary": "live"}, **chosen)
        changes = {"replicates": 1, "duration_s": 1, "warmup_s": 0, "standing": "kept"} | changes
        plan = plans.from_mapping(smaller(mapping, factors, **changes), kinds())
        run = runs.create_run(plan, kinds(), actor="test", as_admin=True)
        while models.Trial.objects.filter(state=TrialState.WAITING).exists():
            attempt = run_next()
            assert attempt.error is None, attempt.error
        return run

    return one


@pytest.mark.parametrize("slug", SMALLEST)
def test_it_runs_and_its_comparison_answers(slug: str, run_recipe: Callable[[str], models.Run], client: Client) -> None:
    run = run_recipe(slug)
    assert set(run.trials.values_list("state", flat=True)) == {TrialState.DONE}
    answers(compare(Selection((run.pk,))))
    shown = shown_ratios(client, reverse("comparison"), 'class="ratio">', run=run.pk)
    assert shown == rounded(judged_ratios(answer(client, f"run={run.pk}")))
    if len(set(run.configurations.values_list("dimensions__major", flat=True))) > 1:
        versions_answer(client)
    if RECIPES[slug].compare is Compare.BUILDS:
        access_methods_answer(client)
    if RECIPES[slug].mapping.get("topology", "single") != "single":
        topologies_answer(client, run.headline)


def rounded(ratios: Sequence[float]) -> list[Any]:
    """Return what equals these ratios as pages show them: with three decimals, or one from 10 on."""
    return [pytest.approx(ratio, abs=0.000501 if ratio < 10 else 0.0501) for ratio in ratios]


def shown_ratios(client: Client, address: str, before: str, **query: int) -> list[float]:
    """Return the ratios that a page shows behind this piece of HTML."""
    response = client.get(address, query, follow=True)
    assert response.status_code == 200
    return [float(text.replace(",", "")) for text in re.findall(f"{before}×([0-9.,]+)<", page_text(response))]


def answer(client: Client, query: str) -> dict[str, Any]:
    """Return the comparison as the API says it."""
    response = client.get(f"{reverse('api:comparison')}?{query}")
    assert response.status_code == 200, response.content
    answered: dict[str, Any] = response.json()
    return answered


def judged_ratios(comparison: dict[str, Any]) -> list[float]:
    """Return the ratios of the JSON's cells that have a verdict, in the order of the page's table."""
    points = comparison["points"]
    columns = [points[name] for name in ("panel", "x", "series", "verdict", "ratio")]
    return [ratio for *_, verdict, ratio in sorted(zip(*columns, strict=True)) if verdict and ratio]


def versions_answer(client: Client) -> None:
    """The newer version's cell is the mean of the comparison that it links to, and so is what the page shows."""
    [row] = versions().rows
    base, cell = row.cells
    assert base and cell and cell.speed and base.version == row.base
    [_, summary] = answer(client, urlstate.write(cell.selection))["summaries"]
    turned = -1 if row.metric.better == Better.LOWER else 1
    assert cell.speed == pytest.approx(summary["ratio"] ** turned, rel=1e-5)
    arrow = '(?:<span aria-hidden="true">.</span> )?'  # where the verdicts have a direction
    assert shown_ratios(client, reverse("versions"), f"<b>{arrow}") == rounded([cell.speed])


def access_methods_answer(client: Client) -> None:
    """Every cell has a ratio to the heap of its build, where that has such a cell and neither is zero."""
    tables = access_methods().tables
    assert len(tables) > 3
    shown: list[float] = []
    for table in tables:
        cells = [cell for _, line in table.lines for cell in comparable(dict(zip(table.columns, line, strict=True)))]
        ratios = [cell.ratio for cell in cells if cell.ratio and cell.verdict]
        assert len(ratios) == len(cells), table.metric.name
        answered = judged_ratios(answer(client, urlstate.write(table.selection)))
        assert sorted(ratios) == pytest.approx(sorted(answered), rel=1e-5), table.metric.name
        shown += ratios
    assert shown_ratios(client, reverse("access-methods"), 'class="soft">') == rounded(shown)


def comparable(cells: Mapping[tuple[str, str], Point | None]) -> Iterator[Point]:
    """Return the cells that have a heap to be compared with.

    cells: one line of a table; (access method, installation) → cell."""
    for (method, build), cell in cells.items():
        heap = cells.get(("heap", build))
        if method != "heap" and heap and heap.value and cell and cell.value:
            yield cell


def topologies_answer(client: Client, metric: str) -> None:
    """Every line has a ratio to one server, where one was measured."""
    [table] = topologies(metric).tables
    assert bool(table.one) == any(line.nodes == 1 for line in table.lines)
    against_one = [line.against_one for line in table.lines if line.against_one]
    assert len(against_one) == (len(table.lines) if table.one else 0)
    assert shown_ratios(client, reverse("topologies"), 'class="num">') == rounded(against_one)
