"""What holds for the whole house: import directions, migrations, sizes, docs, smoke tests. `make lint` looks at style
and types; OpenAPI has `tests/webapp/api/test_api_schema.py`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.template.loader import get_template

from results.domain.plan import Kinds
from tests.live.trials import test_every_topology, test_every_workload
from webapp import env
from workers import registry

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
TEMPLATES = ROOT / "templates"
CODE = ("bootstrap", "results", "workers", "webapp", "bench", "tests")


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


def test_imports_go_webapp_workers_results_and_pure_modules_are_pure() -> None:
    run(str(BIN / "lint-imports"), "--no-cache")


def imported(folder: str) -> Iterator[tuple[str, str]]:
    """(file, module) of every import below a folder, `from a import b` as a.b."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from ((str(path.relative_to(ROOT)), alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((str(path.relative_to(ROOT)), f"{node.module}.{alias.name}") for alias in node.names)


def test_the_domain_knows_the_standard_library_and_what_computes() -> None:
    libraries = {"numpy", "scipy", "cattrs", "tomli_w", *sys.stdlib_module_names}
    foreign = [
        (file, module)
        for file, module in imported("results/domain")
        if module.partition(".")[0] not in libraries and not module.startswith("results.domain.")
    ]
    assert foreign == []


def test_webapp_enters_workers_by_the_registry_and_the_tasks() -> None:
    doors = ("workers.registry", "workers.tasks")
    entered = [(file, module) for file, module in imported("webapp") if module.partition(".")[0] == "workers"]
    assert entered
    assert [
        (file, module) for file, module in entered if not f"{module}.".startswith(tuple(f"{d}." for d in doors))
    ] == []


def test_bootstrap_knows_none_of_the_three_rooms() -> None:
    for path in (ROOT / "bootstrap").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) (results|workers|webapp)\b", path.read_text(), re.M), path


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.parametrize("name", sorted(str(p.relative_to(TEMPLATES)) for p in TEMPLATES.rglob("*.html")))
def test_every_template_compiles_by_itself_and_has_no_long_line(name: str) -> None:
    get_template(name)
    long = [line for line in (TEMPLATES / name).read_text().splitlines() if len(line) > 120 and "://" not in line]
    assert long == []


def test_no_file_is_longer_than_500_lines() -> None:
    long = [p for folder in CODE for p in (ROOT / folder).rglob("*.py") if len(p.read_text().splitlines()) > 500]
    assert long == []


def test_every_environment_variable_has_a_heading() -> None:
    named = set(re.findall(r'"(TEITEN_[A-Z_]+)"', Path(env.__file__).read_text()))
    headings = set(re.findall(r"^### (TEITEN_[A-Z_]+)$", (ROOT / "docs" / "operations.md").read_text(), re.M))
    assert named == headings


def test_every_link_between_documents_leads_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links {target}"


def test_the_page_of_workloads_leads_to_every_kind_and_every_ready_plan() -> None:
    page = (ROOT / "docs" / "workloads.md").read_text()
    folders = [f"workers/workloads/{name}" for name in registry.kinds().workloads]
    folders += [f"workers/collectors/{name}" for name in registry.kinds().collectors]
    plans = [f"plans/{path.name}" for path in (ROOT / "plans").glob("*.toml") if "[ready]" in path.read_text()]
    wanted = [f"](../{folder}/README.md)" for folder in folders] + [f"](../{plan})" for plan in plans]
    assert [link for link in wanted if link not in page] == []


def kinds_and_folders() -> list[tuple[str, str]]:
    kinds: Kinds = registry.kinds()
    groups = {"workloads": kinds.workloads, "topologies": kinds.topologies, "collectors": kinds.collectors}
    return [(group, name) for group, specs in groups.items() for name in specs]


@pytest.mark.parametrize(("group", "name"), kinds_and_folders())
def test_every_kind_is_whole_and_described(group: str, name: str) -> None:
    spec = getattr(registry.kinds(), group)[name]
    text = (ROOT / "workers" / group / name / "README.md").read_text()
    names = [parameter.name for parameter in getattr(spec, "parameters", ())]
    names += [metric.name for metric in getattr(spec, "metrics", ())]
    assert [n for n in names if n not in text] == []
    acts = {"workloads": registry.workload, "topologies": registry.topology, "collectors": registry.collector}
    assert acts[group](name) is not None
    if group == "workloads":
        assert registry.workload_parser(name) is not None
    if group == "collectors":
        assert registry.collector_parser(name) is not None


def test_every_kind_has_its_smoke_test() -> None:
    kinds = registry.kinds()
    assert set(test_every_workload.SMALLEST) == set(kinds.workloads)
    assert set(test_every_topology.SMALLEST) == set(kinds.topologies)
    watching = {name for plan in test_every_topology.SMALLEST.values() for name in plan.get("collectors", ())}
    watching |= {name for spec in kinds.topologies.values() for name in spec.collectors_for({})}
    assert watching == set(kinds.collectors)
    for module in (test_every_workload, test_every_topology):
        assert module.pytestmark == pytest.mark.smoke


def test_what_topologies_do_at_once_is_waited_for() -> None:
    """One that failed must not leave others that still start servers when the trial cleans up: `nodes.all_of`."""
    folders = [ROOT / "workers" / name for name in ("topologies", "servers", "replication", "pgpool")]
    paths = [path for folder in folders for path in folder.rglob("*.py") if "asyncio.gather(" in path.read_text()]
    assert paths == [ROOT / "workers" / "servers" / "nodes.py"]
