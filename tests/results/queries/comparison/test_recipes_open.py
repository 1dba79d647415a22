"""Every ready plan, run once, opens on a comparison that answers what it asks.

It has a baseline, and a ratio in every cell that can have one.
"""

from __future__ import annotations

import pytest

from results import models
from results.domain import plan
from results.domain.kinds.host_factors import read as read_host_factors
from results.domain.kinds.specs import WorkloadSpec
from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import Measurement
from results.domain.plan.recipes import Compare, Recipe
from results.hostfactors import define
from results.queries.comparison.compare import compare
from results.queries.presets.access_methods import access_methods
from results.queries.presets.topologies import topologies
from results.queries.presets.versions import versions
from results.queries.shared.selection import LABEL, Selection
from results.runs import create_run
from tests import factories
from tests.ready_plans import RECIPES, WITHOUT_NUMBERS, answers, compared
from tests.step_runs import access_method_run
from webapp.compare.words import heading, lead
from workers.registry import kinds

pytestmark = pytest.mark.django_db
LEVEL = """[{name}.levels.{level}]
apply = "true"
check = "true"
"""
ZFS = {"zfs_recordsize": ("128K", "16K", "8K"), "zfs_primarycache": ("metadata", "all")}


def define_zfs() -> None:
    text = ""
    for name, levels in ZFS.items():
        text += f'[{name}]\nhelp = "A property of ZFS."\nshow = "true"\nrevert = "true"\n'
        text += "".join(LEVEL.format(name=name, level=level) for level in levels)
    define(models.Agent.objects.get(), read_host_factors(text), "tests")


def finished(recipe: Recipe, installations: tuple[str, ...] = ("16", "18")) -> models.Run:
    factories.agent("db1")
    models.Installation.objects.update(access_methods=["heap", "heap2"], extensions=["postgres_fdw", "pg_prewarm"])
    models.Agent.objects.update(cores=64, memory_bytes=2**40, disk={"free_bytes": 2**50, "total_bytes": 2**50})
    agent = models.Agent.objects.get()
    models.Agent.objects.update(tools=agent.tools | {"pgpool": "/usr/sbin/pgpool pgpool-II version 4.3.5"})
    define_zfs()
    chosen = compared(recipe, installations, ("heap", "heap2"))
    mapping = recipe.plan(size=recipe.laptop, agents=dict.fromkeys(recipe.roles, "db1"), **chosen)
    mapping |= {"replicates": 3, "standing": "kept"}
    run = create_run(plan.from_mapping(mapping, kinds()), kinds(), actor="tests", as_admin=True)
    workload = kinds().workloads[recipe.workload]
    metrics, values = measured(workload, run.headline)
    for trial in run.trials.select_related("configuration"):
        number = 1 + trial.configuration.index / 10 + trial.block / 1000
        factories.finish(
            trial,
            1.0,
            metrics=metrics,
            measurements=tuple(Measurement(name, number * factor, label=label) for name, label, factor in values),
        )
    return run


def measured(workload: WorkloadSpec, headline: str) -> tuple[tuple[Metric, ...], list[tuple[str, str, float]]]:
    """The headline and, where it has parts, two of these and what is called the whole."""
    by_name = {metric.name: metric for metric in workload.metrics}
    first = by_name[headline]
    names = dict.fromkeys([headline, *filter(None, [first.parts])])
    values = [(headline, "", 3.0)]
    values += [(first.parts, label, factor) for label, factor in (("second", 2.0), ("first", 1.0)) if first.parts]
    return tuple(by_name[name] for name in names), values


@pytest.mark.parametrize("slug", [slug for slug in RECIPES if slug not in WITHOUT_NUMBERS])
def test_it_opens_with_a_baseline_and_a_ratio_in_every_cell(slug: str) -> None:
    run = finished(RECIPES[slug])
    comparison = compare(Selection((run.pk,)))
    answers(comparison)
    others = {one.key for environment in comparison.environment for one in environment.notable}
    assert others == set()
    if RECIPES[slug].compare is Compare.BUILDS:
        assert (comparison.selection.series, comparison.selection.baseline) == ("access_method,installation", "heap")
        tables = access_methods().tables
        assert all(cell and cell.ratio for table in tables for _, cells in table.lines for cell in cells)
    if RECIPES[slug].compare is Compare.INSTALLATIONS:
        assert comparison.selection.series == "installation"
        [row] = versions().rows
        assert [bool(cell and cell.speed) for cell in row.cells] == [True, True]


VARYING = [
    slug for slug, recipe in RECIPES.items() if recipe.compare is Compare.INSTALLATIONS and "factors" in recipe.mapping
]


@pytest.mark.parametrize("slug", VARYING)
def test_with_one_installation_it_opens_on_what_else_it_varies(slug: str) -> None:
    run = finished(RECIPES[slug], ("16",))
    answers(compare(Selection((run.pk,))))


@pytest.mark.parametrize("slug", ["wg1-pgpool-read", "wg1-cascading", "fdw-shards", "logical-subscribers"])
def test_topologies_show_it_too(slug: str) -> None:
    finished(RECIPES[slug])
    metric = models.Run.objects.get().headline
    tables = topologies(metric).tables
    assert tables and all(line.against_one for table in tables for line in table.lines if table.one)


def test_queries_steps_and_operations_are_x_in_their_own_order_and_the_total_stands_apart() -> None:
    run = finished(RECIPES["wg1-bulk-load"])
    comparison = compare(Selection((run.pk,)))
    assert (comparison.selection.x, comparison.xs) == (LABEL, ("second", "first", "total"))
    assert {summary.cells for summary in comparison.summaries} == {2}
    assert comparison.selection.filters == {"wal": ("skipped",)}
    run = finished_in(RECIPES["wg1-ssb-parallel"])
    comparison = compare(Selection((run.pk,)))
    assert (comparison.selection.metric, comparison.xs) == ("ssb.query.seconds", ("second", "first"))


def test_a_mean_over_steps_counts_no_part_of_one_of_them_beside_it() -> None:
    run = finished(RECIPES["wg1-bulk-load"])
    models.Measurement.objects.filter(run=run, label="second").update(label="first: orders")
    comparison = compare(Selection((run.pk,)))
    assert comparison.xs == ("first: orders", "first", "total")
    assert {summary.cells for summary in comparison.summaries} == {1}
    alone = compare(Selection((run.pk,), {LABEL: ("first: orders",)}))
    assert {summary.cells for summary in alone.summaries} == {1}


def test_what_is_no_total_keeps_its_place_in_the_workload_s_order_and_no_step_is_called_a_query() -> None:
    run = finished(RECIPES["wg1-access-methods-zheap"])
    comparison = compare(Selection((run.pk,)))
    assert (comparison.selection.x, comparison.xs) == (LABEL, ("one row", "second", "first"))
    assert all("at all 3 labels" in sentence.claim for sentence in lead(comparison))
    comparison = compare(Selection((finished_in(RECIPES["wg1-ssb-parallel"]).pk,)))
    assert [sentence.claim.rpartition(" at ")[2] for sentence in lead(comparison)] == ["both queries"]


def test_a_series_that_is_on_or_off_says_what_is() -> None:
    run = finished(RECIPES["wg1-ssb-jit"], ("16",))
    models.Measurement.objects.filter(run=run, label="second").delete()
    comparison = compare(Selection((run.pk,), series="setting.jit"))
    assert heading(comparison) == "jit on against jit off"
    assert {sentence.claim.partition(" is ")[0] for sentence in lead(comparison)} == {"jit on"}


def finished_in(recipe: Recipe) -> models.Run:
    """In a warehouse that knows the agent already."""
    models.Agent.objects.all().delete()
    return finished(recipe)


def test_views_over_many_runs_show_all_of_them_whatever_else_their_plans_vary() -> None:
    """A factor that would be mixed is filtered where somebody looks at it, and nowhere else."""
    factories.agent("db1")
    for clients in ([2, 4], [8, 16]):
        arranged = {"topology": "streaming", "agents": {"primary": "db1", "standby": "db1"}}
        factories.finished_run(factors={"topology.standbys": [1, 2], "clients": clients}, installation="16", **arranged)
    tables = topologies().tables
    assert [[line.n for line in table.lines] for table in tables] == [[4, 4], [4, 4]]
    assert {table.mixed for table in tables} == {("clients", "threads")}
    models.Run.objects.all().delete()
    for threads in (["1", "2"], ["4"]):
        factories.finished_run(factors={"installation": ["16", "18"], "threads": threads, "clients": [4]})
    [row] = versions().rows
    assert [cell and cell.n for cell in row.cells] == [6, 6]


def test_builds_are_not_told_apart_twice() -> None:
    run = access_method_run()
    models.Measurement.objects.filter(run=run).exclude(metric="size.table").delete()
    models.Measurement.objects.filter(run=run).exclude(label="foo").delete()
    comparison = compare(Selection((run.pk,)))
    assert comparison.selection.x != "build"
    assert any(point.verdict for point in comparison.points)
