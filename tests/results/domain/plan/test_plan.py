"""Plans: read, written, checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain import plan as plans
from results.domain.errors import PlanError
from results.domain.kinds.reserved_names import RESERVED_SETTINGS
from results.domain.matrix import InstallationRef, dimensions, expand, find_installation, order, resolve, threads_for
from results.domain.plan.checks import passwords
from workers import registry

KINDS = registry.kinds()
PLANS = sorted((Path(__file__).parents[4] / "plans").glob("*.toml"))
PLAIN = [path for path in PLANS if "[ready]" not in path.read_text().splitlines()]
SMALL = """
name = "small"
installation = "16"
[agents]
primary = "db"
"""


def problems(text: str) -> dict[str, str]:
    with pytest.raises(PlanError) as caught:
        plans.read(text, KINDS)
    return {problem.field: problem.what for problem in caught.value.problems}


def refs(*versions: str) -> list[InstallationRef]:
    return [InstallationRef(v, f"/pg/{v}", f"/pg/{v}", v, int(float(v) * 10000)) for v in versions]


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.name)
def test_every_plan_that_comes_whole_loads_and_survives_a_round_trip(path: Path) -> None:
    plan = plans.read(path.read_text(), KINDS)
    again = plans.read(plans.to_toml(plan), KINDS)
    assert again == plan
    assert again.hash == plan.hash


def test_the_demo_plan_has_24_trials() -> None:
    plan = plans.read((Path(__file__).parents[4] / "plans" / "demo.toml").read_text(), KINDS)
    assert len(expand(plan)) * plan.replicates == 24


def test_runs_are_exploratory_unless_the_plan_says_otherwise() -> None:
    assert plans.read(SMALL, KINDS).standing == "exploratory"
    assert "standing" not in plans.to_toml(plans.read(SMALL, KINDS))
    kept = plans.read(f'standing = "kept"\n{SMALL}', KINDS)
    assert kept.standing == "kept"
    assert plans.read(plans.to_toml(kept), KINDS) == kept


def test_the_standing_of_its_runs_makes_no_other_plan() -> None:
    hashes = {plans.read(f'standing = "{standing}"\n{SMALL}', KINDS).hash for standing in ("kept", "excluded")}
    assert hashes == {plans.read(SMALL, KINDS).hash}


def test_a_standing_that_there_is_not_is_refused() -> None:
    assert "'good'" in problems(f'standing = "good"\n{SMALL}')["standing"]


def test_the_plans_of_demo_and_continuous_integration_keep_their_runs() -> None:
    folder = Path(__file__).parents[4] / "plans"
    for name in ("demo", "ci"):
        assert plans.read((folder / f"{name}.toml").read_text(), KINDS).standing == "kept"


def test_every_problem_is_reported_with_its_field() -> None:
    all_problems = problems(
        'name = "x $(rm -rf /)"\nworkload = "pgbench"\nreplicate = 3\nduration_s = "long"\nseed = -1\n'
        'initdb = ["; rm"]\ncollectors = ["telescope"]\n'
        '[agents]\nprimary = "a b"\nking = "x"\n[parameters]\nclients = "four"\nsalt = 1\n'
        '[settings]\n"a;b" = 1\n[factors]\nscale = []\nfoo = [1]\nclients = [1, 1]\n'
    )
    assert set(all_problems) == {
        "name",
        "replicate",
        "duration_s",
        "seed",
        "initdb",
        "collectors",
        "agents.primary",
        "agents.king",
        "parameters.clients",
        "parameters.salt",
        "settings.a;b",
        "factors.scale",
        "factors.foo",
        "factors.clients",
        "installation",
    }
    assert all_problems["parameters.clients"] == "'four' is not a whole number."


@pytest.mark.parametrize(
    "option",
    [
        "--pgdata=/elsewhere",
        "-D/elsewhere",
        "--pgd=/elsewhere",
        "--username=x",
        "-Ux",
        "--pwfile=/etc/shadow",
        "-W",
        "--pwprompt",
        "--waldir=/elsewhere",
        "-X/elsewhere",
        "--auth=md5",
        "--auth-host=trust",
        "-Atrust",
        "/elsewhere",
        "--lc-messages=de_DE",
        "--set=port=1",
        "-cdata_directory=/elsewhere",
        "--wal-segsize",
        "--encoding=",
        "-k; x",
        7,
    ],
)
def test_initdb_is_not_told_places_accounts_or_authentication(option: object) -> None:
    mapping = {"name": "x", "installation": "16", "agents": {"primary": "db"}, "initdb": [option]}
    with pytest.raises(PlanError) as caught:
        plans.from_mapping(mapping, KINDS)
    assert [problem.field for problem in caught.value.problems] == ["initdb"]


def test_initdb_is_told_what_distinguishes_clusters() -> None:
    options = [
        "--data-checksums",
        "-k",
        "--no-data-checksums",
        "--wal-segsize=64",
        "--locale=ja_JP.UTF-8",
        "-EUTF8",
        "--encoding=EUC_JP",
        "--locale-provider=icu",
        "--icu-locale=ja-JP",
        "--lc-collate=C",
        "--no-locale",
        "--set=work_mem=4MB",
        "-cshared_buffers=1GB",
    ]
    mapping = {"name": "x", "installation": "16", "agents": {"primary": "db"}, "initdb": options}
    assert plans.from_mapping(mapping, KINDS).initdb == tuple(options)


@pytest.mark.parametrize("name", sorted({*RESERVED_SETTINGS, "Port"}))
def test_settings_that_are_teitens_own_are_refused_in_the_plan(name: str) -> None:
    assert problems(SMALL + f"[settings]\n{name} = 'x'\n") == {f"settings.{name}": f"{name} is set by Teiten itself."}
    varied = problems(SMALL + f"[factors]\n'setting.{name}' = ['x', 'y']\n")
    assert varied == {f"factors.setting.{name}": f"{name} is set by Teiten itself."}


def test_a_cold_cache_is_not_warmed_up() -> None:
    both = "cache = 'cold'\nwarmup_s = 5\n"
    assert problems(both + SMALL) == {"cache": "A warm-up of 5 s fills the caches that are to be cold."}
    plans.read("cache = 'cold'\n" + SMALL, KINDS)
    plans.read("warmup_s = 5\n" + SMALL, KINDS)
    plans.read("warmup_s = 5\n" + SMALL + "[factors]\ncache = ['cold', 'prewarm']\n", KINDS)


def test_a_file_that_is_not_toml_names_its_line() -> None:
    assert "line 2" in problems('name = "a"\nseed = ]\n')["TOML"]


def test_a_target_may_be_varied_once_only() -> None:
    text = SMALL + "[factors]\nclients = [1, 2]\nload = [{label = 'low', values = {clients = 1}}]\n"
    assert problems(text) == {"factors.load": "'clients' is also set by factor 'clients'."}


def test_composite_levels_and_settings_become_values() -> None:
    text = SMALL + (
        "[factors]\n'setting.work_mem' = ['4MB', '64MB']\n"
        "machine = [{label = 'small', values = {'setting.shared_buffers' = '128MB', clients = 1}}]\n"
    )
    plan = plans.read(text, KINDS)
    values = [configuration.values for configuration in expand(plan)]
    assert [v["setting.work_mem"] for v in values] == ["4MB", "64MB"]
    assert {v["setting.shared_buffers"] for v in values} == {"128MB"}
    assert plans.read(plans.to_toml(plan), KINDS) == plan


def test_no_collectors_is_not_the_default_collectors() -> None:
    plan = plans.read("collectors = []\n" + SMALL, KINDS)
    assert plan.collectors == ()
    assert plans.read(plans.to_toml(plan), KINDS) == plan


def test_the_name_of_a_composite_factor_is_checked() -> None:
    text = SMALL + '[factors]\n"a\\nb" = [{label = "x", values = {clients = 1}}]\n'
    assert set(problems(text)) == {"factors"}


def test_excluded_combinations_are_left_out() -> None:
    text = SMALL + "exclude = []\n[factors]\nclients = [1, 4]\nprotocol = ['simple', 'prepared']\n"
    text = text.replace("exclude = []\n", "") + "[[exclude]]\nclients = 4\nprotocol = 'simple'\n"
    names = [configuration.name for configuration in expand(plans.read(text, KINDS))]
    assert names == ["clients=1, protocol=simple", "clients=1, protocol=prepared", "clients=4, protocol=prepared"]


def test_an_excluded_level_that_is_not_there_is_a_problem() -> None:
    text = SMALL + "[factors]\nclients = [1, 4]\n[[exclude]]\nclients = 5\n"
    assert problems(text) == {"exclude[0]": "Factor 'clients' has no level '5'."}


def test_more_trials_than_anyone_can_mean_are_refused() -> None:
    levels = ", ".join(map(str, range(1, 400)))
    assert "factors" in problems(
        SMALL
        + f"replicates = 1000\n[factors]\nclients = [{levels}]\n".replace("replicates = 1000\n", "")
        + "scale = ["
        + levels
        + "]\n"
    )


@pytest.mark.parametrize(
    ("rule", "clients", "threads"), [("clients/2", 1, 1), ("clients/2", 5, 2), ("clients", 7, 7), ("4", 2, 2)]
)
def test_threads_follow_the_rule(rule: str, clients: int, threads: int) -> None:
    assert threads_for(rule, clients) == threads


def test_an_installation_is_found_by_name_or_by_the_newest_fitting_version() -> None:
    installed = refs("16.2", "16.9", "160.1")
    assert find_installation("16", installed) == installed[1]
    assert find_installation("16.2", installed) == installed[0]
    assert find_installation("17", installed) is None


def test_blocks_hold_every_configuration_once_in_an_order_of_their_own() -> None:
    slots = order(6, range(1, 4), seed=7)
    blocks = [[slot.configuration for slot in slots if slot.block == block] for block in (1, 2, 3)]
    assert all(sorted(block) == list(range(6)) for block in blocks)
    assert blocks[0] != blocks[1]
    assert [slot.position for slot in slots] == list(range(18))


def test_blocks_added_later_leave_earlier_ones_as_they_were() -> None:
    assert order(5, [1, 2, 3], seed=3)[10:] == order(5, [3], seed=3, first_position=10)


def test_resolving_names_the_installation_that_an_agent_lacks() -> None:
    plan = plans.read(SMALL + "[factors]\ninstallation = ['16', '19']\n", KINDS)
    with pytest.raises(PlanError) as caught:
        resolve(plan, expand(plan), {"db": refs("16.9")}, KINDS)
    assert [(p.field, p.what) for p in caught.value.problems] == [("installation", "Agent db has no PostgreSQL '19'.")]


def test_an_agent_of_which_no_installation_is_known_is_not_said_to_lack_one() -> None:
    plan = plans.read(SMALL, KINDS)
    with pytest.raises(PlanError, match="No PostgreSQL of agent db is known"):
        resolve(plan, expand(plan), {"db": []}, KINDS)


def test_resolving_names_the_agent_that_is_not_there() -> None:
    plan = plans.read(SMALL, KINDS)
    with pytest.raises(PlanError, match="There is no agent 'db'"):
        resolve(plan, expand(plan), {"other": refs("16.9")}, KINDS)


def test_a_resolved_trial_survives_json_and_tells_its_dimensions() -> None:
    plan = plans.read(SMALL + "[settings]\nfsync = false\n[parameters]\nclients = 8\n", KINDS)
    [spec] = resolve(plan, expand(plan), {"db": refs("16.9")}, KINDS)
    assert type(spec).from_json(spec.to_json()) == spec
    flat = dimensions(spec)
    assert (flat["clients"], flat["threads"], flat["major"], flat["setting.fsync"]) == (8, 4, "16", "off")


@pytest.mark.parametrize(
    ("factor", "levels", "what"),
    [
        ("version", "'15.18', '16.14', '18.4'", ["'version' is nothing that can be varied."]),
        ("installation", "15.18, 16.14", ["15.18 is not text.", "16.14 is not text."]),
        ("clients", "'one', 'two'", ["'one' is not a whole number.", "'two' is not a whole number."]),
        ("clients", "1, 1.0", ["Two levels are the same."]),
        (
            "setting.work_mem",
            "['4MB'], ['8MB']",
            ["['4MB'] is not text, a number or true/false.", "['8MB'] is not text, a number or true/false."],
        ),
    ],
)
def test_levels_that_are_wrong_are_not_called_the_same(factor: str, levels: str, what: list[str]) -> None:
    with pytest.raises(PlanError) as caught:
        plans.read(SMALL + f"[factors]\n'{factor}' = [{levels}]\n", KINDS)
    assert [problem.what for problem in caught.value.problems] == what
    assert {problem.field for problem in caught.value.problems} == {f"factors.{factor}"}


def test_an_excluded_level_that_is_wrong_is_not_said_to_be_missing() -> None:
    text = SMALL + "[factors]\nclients = ['one', 4]\n[[exclude]]\nclients = 'one'\n"
    assert problems(text) == {"factors.clients": "'one' is not a whole number."}


@pytest.mark.parametrize(
    ("toml", "fields"),
    [
        ('[settings]\nprimary_conninfo = "host=a password=b"', {"settings.primary_conninfo"}),
        ("description = \"ALTER ROLE r PASSWORD 'abc'\"", {"description"}),
        ("[parameters]\ntext = \"SELECT 1 FROM u WHERE password = 'abc'\"", {"parameters.text"}),
        ('[parameters]\ntext = "SELECT 1 FROM u, p WHERE password = :pw OR u.password=p.password"', set()),
        (
            'description = "How the password \'policy\' costs"\n[parameters]\ntext = "UPDATE u SET password = md5(:x)"',
            set(),
        ),
        ("[settings]\nssl_passphrase_command = 'cat file'", set()),
        ("[parameters]\nform = 'command'\ntext = '''set -e\ndb_password=abc run'''", {"parameters.text"}),
        ("[parameters]\nform = 'command'\ntext = 'curl --password abc'", {"parameters.text"}),
        ("[parameters]\nform = 'command'\ntext = '''pw=$(cat x)\nexport PGPASSWORD=\"$pw\"\npsql'''", set()),
        ("[parameters]\ntext = '''UPDATE u SET\npassword=p.old'''", set()),
        (
            "topology = 'endpoints'\n[topology_parameters]\nbefore = 'db_password=abc run'",
            {"topology_parameters.before"},
        ),
    ],
)
def test_a_plan_may_speak_of_passwords_but_hold_none(toml: str, fields: set[str]) -> None:
    toml = toml if "[parameters]" in toml else f'{toml}\n[parameters]\ntext = "SELECT 1"'
    text = f'name = "a"\ninstallation = "16"\nworkload = "script"\n{toml}\n[agents]\nprimary = "db"\n'
    assert {problem.field for problem in passwords(plans.read(text, KINDS), KINDS)} == fields
