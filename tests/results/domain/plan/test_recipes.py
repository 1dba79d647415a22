"""Ready plans: what is read, what is refused, what a choice makes of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from results.domain.errors import PlanError
from results.domain.matrix import expand
from results.domain.plan import from_mapping, read, to_toml
from results.domain.plan.recipes import (
    Build,
    Compare,
    Recipe,
    example,
    from_toml,
    plan_description,
    read_all,
    shortened,
    translations,
)
from results.domain.units import parse_seconds
from workers.registry import kinds

PLANS = Path(__file__).parents[4] / "plans"
SHELF = read_all(PLANS, kinds())


def mapping(**changes: Any) -> dict[str, Any]:
    recipe = {
        "source": "A report 2012,\n 2.2.",
        "did": "Much\nwas done.",
        "found": "Little.",
        "size": "scale",
        "laptop": 10,
        "report": 1000,
        "compare": "installations",
    }
    plan = {
        "name": "Reads",
        "description": "What it\nfinds out.\n\nAnd more.",
        "workload": "pgbench",
        "parameters": {"script": "select-only", "scale": 3},
        "factors": {"clients": [1, 4]},
    }
    of_table = {*recipe, "topic", "rank", "short", "ja"}
    own = {key: value for key, value in changes.items() if key in of_table}
    return plan | {"ready": recipe | own} | {key: value for key, value in changes.items() if key not in of_table}


def made(**changes: Any) -> Recipe:
    return from_toml("reads", mapping(**changes), kinds())


def problems(**changes: Any) -> dict[str, str]:
    with pytest.raises(PlanError) as refused:
        made(**changes)
    return {problem.field: problem.what for problem in refused.value.problems}


def test_every_file_that_is_meant_as_a_ready_plan_is_one() -> None:
    assert [(broken.slug, broken.error.problems) for broken in SHELF.broken] == []
    assert len(SHELF.plans) >= 1
    assert {"demo", "ci"}.isdisjoint(plan.slug for plan in SHELF.plans)


@pytest.mark.parametrize("recipe", SHELF.plans, ids=lambda recipe: recipe.slug)
def test_every_ready_plan_is_whole_on_a_laptop_and_on_the_reports_machine(recipe: Recipe) -> None:
    for size in (recipe.laptop, recipe.report):
        plan = from_mapping(example(recipe, size), kinds())
        assert plan.parameters[recipe.size.name] == size
        assert plan.name == recipe.name
        assert recipe.source in plan.description
        assert read(to_toml(plan), kinds()).hash == plan.hash


COMPARED = [recipe for recipe in SHELF.plans if recipe.compare is Compare.INSTALLATIONS]
WITH_CHECKPOINT = {"flash-append", "flash-oltp"}  # what reaches the storage is what they measure
TIMED = [recipe for recipe in SHELF.plans if "checkpoint_timeout" in recipe.mapping.get("settings", {})]


@pytest.mark.parametrize("recipe", COMPARED, ids=lambda recipe: recipe.slug)
def test_versions_are_compared_with_checksums_or_without_and_never_by_default(recipe: Recipe) -> None:
    assert {"--data-checksums", "--no-data-checksums"} & set(recipe.mapping["initdb"])


@pytest.mark.parametrize("recipe", TIMED, ids=lambda recipe: recipe.slug)
def test_a_timed_checkpoint_falls_into_the_window_only_where_it_belongs(recipe: Recipe) -> None:
    """The clock of checkpoint_timeout begins with the checkpoint before the window."""
    plan = from_mapping(example(recipe, recipe.laptop), kinds())
    timeout_s = parse_seconds(plan.settings["checkpoint_timeout"])
    assert (timeout_s < plan.conditions["duration_s"]) == (recipe.slug in WITH_CHECKPOINT)


@pytest.mark.parametrize("recipe", SHELF.plans, ids=lambda recipe: recipe.slug)
def test_the_short_form_is_less_of_the_same(recipe: Recipe) -> None:
    whole = from_mapping(example(recipe, recipe.laptop), kinds())
    short = from_mapping(example(recipe, recipe.laptop, whole=False), kinds())
    for name, kept in recipe.short.get("factors", {}).items():
        levels = {factor.name: [level.label for level in factor.levels] for factor in short.factors}[name]
        assert levels == [str(label) for label in kept]
    assert len(expand(short)) * short.replicates <= len(expand(whole)) * whole.replicates
    assert short.conditions["duration_s"] <= whole.conditions["duration_s"]


def test_a_short_form_leaves_out_the_combinations_of_what_it_leaves_out() -> None:
    exclude = [{"clients": 1, "scale": 5}, {"clients": "4", "scale": "5"}]
    plan = {"factors": {"clients": [1, 4], "scale": [5, 50]}, "exclude": exclude, "replicates": 9}
    short = shortened(plan, {"factors": {"clients": [4]}, "replicates": 2, "parameters": {"rate": 5}})
    assert short == {
        "factors": {"clients": [4], "scale": [5, 50]},
        "exclude": exclude[1:],
        "replicates": 2,
        "parameters": {"rate": 5},
    }


def test_a_short_form_that_cannot_be_is_refused_by_field() -> None:
    assert set(problems(short={"clients": 4})) == {"ready.short.clients"}
    assert set(problems(short={"factors": {"clients": 4}})) == {"ready.short.factors"}
    assert set(problems(short=3)) == {"ready.short"}
    assert set(problems(short={"replicates": 0})) == {"replicates"}
    assert set(problems(topic=3, rank="first")) == {"ready.topic", "ready.rank"}


def test_line_ends_of_the_file_mean_nothing() -> None:
    recipe = made()
    assert recipe.description == "What it finds out.\n\nAnd more."
    assert (recipe.source, recipe.did) == ("A report 2012, 2.2", "Much was done.")


def test_an_indented_line_stands_by_itself() -> None:
    text = "Run each\nof these:\n    zfs set a   b\n\tzfs set c\nand then\nthe plan.\n"
    assert (
        made(description=text).description == "Run each of these:\n    zfs set a b\n    zfs set c\nand then the plan."
    )


def test_a_choice_makes_the_plan() -> None:
    plan = from_mapping(made().plan(size=20, agents={"primary": "db1"}, installations=["16", "18", "16"]), kinds())
    assert (plan.name, plan.agents, plan.parameters) == (
        "Reads",
        {"primary": "db1"},
        {"script": "select-only", "scale": 20},
    )
    assert [(f.name, [level.label for level in f.levels]) for f in plan.factors] == [
        ("installation", ["16", "18"]),
        ("clients", ["1", "4"]),
    ]
    assert plan.description == "What it finds out.\n\nAnd more.\n\nAfter A report 2012, 2.2."


def test_versions_are_compared_by_the_newest_client_unless_the_file_says_otherwise() -> None:
    choice = {"agents": {"primary": "db1"}, "installations": ["16", "18"]}
    assert from_mapping(made().plan(**choice), kinds()).conditions["client_programs"] == "newest"
    own = made(client_programs="16").plan(**choice)
    assert from_mapping(own, kinds()).conditions["client_programs"] == "16"
    one = made(compare="one").plan(agents={"primary": "db1"}, installations=["18"])
    assert from_mapping(one, kinds()).conditions["client_programs"] == ""


def test_builds_become_one_factor_of_installation_and_access_method() -> None:
    builds = [Build("16", "heap"), Build("zheap 12beta1", "zheap")]
    plan = from_mapping(made(compare="builds").plan(agents={"primary": "db1"}, builds=builds, name="Mine"), kinds())
    assert plan.name == "Mine"
    assert plan.parameters["scale"] == 10, "a laptop's where nothing is said"
    assert [(level.label, level.values) for level in plan.factors[0].levels] == [
        ("16 heap", {"installation": "16", "access_method": "heap"}),
        ("zheap 12beta1 zheap", {"installation": "zheap 12beta1", "access_method": "zheap"}),
    ]


def test_a_plan_of_one_installation_has_it_as_a_condition() -> None:
    plan = from_mapping(made(compare="one").plan(agents={"primary": "db1"}, installations=["18"]), kinds())
    assert plan.conditions["installation"] == "18"
    assert [factor.name for factor in plan.factors] == ["clients"]


@pytest.mark.parametrize(
    ("compare", "choice", "fields"),
    [
        ("installations", {"size": 0, "agents": {}}, ["agents.primary", "installations", "size"]),
        ("installations", {"size": "many", "agents": {"primary": "a"}, "installations": ["16"]}, ["size"]),
        ("installations", {"agents": {"primary": "a", "pooler": "b"}, "installations": ["16"]}, ["agents.pooler"]),
        ("installations", {"agents": {"primary": "a"}, "builds": [Build("16", "heap")]}, ["builds", "installations"]),
        ("builds", {"agents": {"primary": "a"}, "installations": ["16"]}, ["builds"]),
        ("one", {"agents": {"primary": "a"}, "installations": ["16", "18"]}, ["installations"]),
        ("one", {"agents": {"primary": "a"}}, ["installations"]),
    ],
)
def test_every_problem_of_a_choice_is_told_by_its_field(
    compare: str, choice: dict[str, Any], fields: list[str]
) -> None:
    with pytest.raises(PlanError) as refused:
        made(compare=compare).plan(**choice)
    assert sorted(problem.field for problem in refused.value.problems) == fields


def test_what_the_one_who_runs_it_chooses_stands_in_no_ready_plan() -> None:
    all_problems = problems(
        agents={"primary": "db1"}, installation="16", factors={"installation": ["16"], "scale": [1, 2], "clients": [1]}
    )
    assert set(all_problems) == {"agents", "installation", "factors.installation", "factors.scale"}
    composite = [{"label": "a", "values": {"access_method": "heap", "scale": 3}}]
    assert set(problems(compare="builds", factors={"x": composite})) == {"factors.access_method", "factors.scale"}
    assert made(factors={"access_method": ["heap", "heap2"]}).compare == "installations"


@pytest.mark.parametrize(
    ("changes", "field", "what"),
    [
        ({"size": "length"}, "ready.size", "The workload has no parameter 'length'."),
        ({"size": "script"}, "ready.size", "script is no number."),
        ({"laptop": 0}, "ready.laptop", "0 is below the minimum of 1."),
        ({"report": "much"}, "ready.report", "'much' is not a whole number."),
        ({"laptop": 2000}, "ready.laptop", "2000 is more than the report's 1000."),
        ({"compare": "all"}, "ready.compare", "'all' is nothing to compare."),
        ({"did": " "}, "ready.did", "' ' says nothing."),
        ({"found": 7}, "ready.found", "7 says nothing."),
        ({"description": ""}, "description", "It is empty."),
        ({"workload": "nothing"}, "workload", "There is no workload 'nothing'."),
        ({"topology": "nothing"}, "topology", "There is no topology 'nothing'."),
        ({"ready": 5}, "ready", "5 is not a table."),
        ({"parameters": 5}, "parameters", "5 is not a table."),
        ({"colour": "red"}, "colour", "There is no key 'colour' in a plan."),
        ({"duration_s": "long"}, "duration_s", "'long' is not a number."),
    ],
)
def test_what_is_wrong_with_a_file_is_told(changes: dict[str, Any], field: str, what: str) -> None:
    assert problems(**changes)[field] == what


def test_every_key_is_needed_and_no_other_is_known() -> None:
    whole = mapping()
    whole["ready"] = {"colour": "red"}
    with pytest.raises(PlanError) as refused:
        from_toml("reads", whole, kinds())
    fields = {problem.field for problem in refused.value.problems}
    assert fields == {
        f"ready.{key}" for key in ("colour", "source", "did", "found", "size", "laptop", "report", "compare")
    }


def test_a_folder_holds_ready_plans_plain_ones_and_broken_ones(tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text(tomli_w.dumps(mapping()))
    (tmp_path / "plain.toml").write_text(tomli_w.dumps({"name": "x"}))
    (tmp_path / "Bad_Name.toml").write_text(tomli_w.dumps(mapping()))
    (tmp_path / "no-toml.toml").write_text("[ready")
    (tmp_path / "not-utf8.toml").write_bytes(b"name = '\xff'")
    recipes = read_all(tmp_path, kinds())
    assert [plan.slug for plan in recipes.plans] == ["good"]
    assert [broken.slug for broken in recipes.broken] == ["Bad_Name", "no-toml", "not-utf8"]
    assert recipes.find("good") is recipes.plans[0]
    assert recipes.find("plain") is None


def test_each_workload_says_whether_the_work_of_pgbench_is_part_of_its_first_metric() -> None:
    by_pgbench = {"access_method", "append", "ledger", "pgbench", "read_scaleup", "tpcc", "update_scaleup"}
    of = {name: {metric.name: metric for metric in spec.metrics} for name, spec in kinds().workloads.items()}
    built_in = {name for name, spec in kinds().workloads.items() if name != "script"}
    assert {name for name in built_in if of[name][kinds().workloads[name].headline].client_overhead} == by_pgbench
    script = kinds().workloads["script"]
    assert of["script"][script.headline_for({"form": "pgbench"})].client_overhead
    assert not of["script"][script.headline_for({"form": "queries"})].client_overhead


def test_a_translation_stands_beside_the_english() -> None:
    japanese = {
        "name": "参照",
        "description": "何がわかりますか。詳しくは次のとおりです。\n\nほかにもあります。",
        "source": "2012年の報告書2.2",
        "found": "少し。",
    }
    toml = mapping(ja=japanese, description="What\nis it? More.\n\nAnd more.")
    assert translations(toml, "ja") == {
        "Reads": "参照",
        "What is it? More.\n\nAnd more.": "何がわかりますか。詳しくは次のとおりです。\n\nほかにもあります。",
        "What is it?": "何がわかりますか。",
        "A report 2012, 2.2": "2012年の報告書2.2",
        "Little.": "少し。",
    }
    assert from_toml("reads", toml, kinds()).question == "What is it?"
    assert translations(mapping(), "ja") == {} == translations({"name": "no ready plan"}, "ja")


@pytest.mark.parametrize(
    ("ja", "field", "what"),
    [
        ({"size": "スケール"}, "ready.ja.size", "It is no text of a ready plan."),
        ({"name": " "}, "ready.ja.name", "' ' says nothing."),
        ("日本語", "ready.ja", "table"),
    ],
)
def test_a_translation_of_something_else_is_refused(ja: Any, field: str, what: str) -> None:
    with pytest.raises(PlanError) as refused:
        from_toml("reads", mapping(ja=ja), kinds())
    assert [problem.field for problem in refused.value.problems] == [field]
    assert what in refused.value.problems[0].what


@pytest.mark.parametrize("recipe", SHELF.plans, ids=lambda recipe: recipe.slug)
def test_every_ready_plan_is_there_in_japanese_with_the_same_figures(recipe: Recipe) -> None:
    japanese = translations(tomllib.loads((PLANS / f"{recipe.slug}.toml").read_text(encoding="utf-8")), "ja")
    texts = [recipe.name, recipe.description, recipe.source, recipe.did, recipe.found, recipe.question]
    assert [text for text in (*texts, recipe.topic) if text not in japanese] == []
    for text in (recipe.description, recipe.did, recipe.found):
        figures = re.findall(r"\d[\d,]*+(?:\.\d+)*+(?! million)", text)
        assert [figure for figure in figures if figure.rstrip(",") not in japanese[text]] == []
    assert japanese[recipe.question].endswith("か。")


@pytest.mark.parametrize("recipe", SHELF.plans, ids=lambda recipe: recipe.slug)
def test_the_description_of_a_plan_that_is_still_a_ready_plans_has_its_translations(recipe: Recipe) -> None:
    text = example(recipe, recipe.laptop)["description"]
    description = plan_description(text)
    assert (type(text), description) == (str, text)
    assert {value.id for value in description.values.values()} == {recipe.description, recipe.source}


@pytest.mark.parametrize("text", ["", "Mine.", "Mine.\n\nAfter lunch", "After A report."])
def test_any_other_description_of_a_plan_is_as_it_was_written(text: str) -> None:
    assert (plan_description(text), plan_description(text).values) == (text, {})
