"""What all tests share: which run when, and the surroundings that `make test` sets up, as environment variables.

Everything in tests/faults, tests/live, tests/e2e and tests/bootstrap is slow; what `make test` runs of it is smoke."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import translation
from xdist.scheduler import LoadScopeScheduling

from results import ranges
from results.viewer import EVERYTHING, read_as
from tests import single_values
from webapp import catalogues

RUNS_OF_TESTS = 20_000
ROW = "fault"  # property of a test: (fault, phase → what became of the trial)
# Tests change rows that never change elsewhere, and roll back: answers, and what they are computed of, are kept only in
# the tests of that.
settings.CACHES["answers"]["BACKEND"] = "django.core.cache.backends.dummy.DummyCache"
settings.TEITEN_COMPUTED = 0
FOLDERS = {
    "tests/faults/": "faults",
    "tests/soak/": "soak",
    "tests/live/": "live",
    "tests/e2e/": "browser",
    "tests/bootstrap/": "bootstrap",
}
# Tests of a file run one after the other. These files, which share agents, or change or count what the machine
# has, do so together.
TOGETHER = {
    "tests/faults/test_faults.py": "agents",
    "tests/faults/test_last_steps.py": "agents",
    "tests/faults/test_trials_over_rabbitmq.py": "agents",
    "tests/live/trials/test_host_factors.py": "kernel",
    "tests/live/trials/test_kernel_settings.py": "kernel",
    "tests/live/trials/test_pgpool.py": "pgpool",
    "tests/live/trials/test_every_topology.py": "pgpool",
}
_HINT = "is not set: this test needs real servers around it. Run `make test` (make tests ARGS='-k name' for one)."


def surrounding(name: str) -> str:
    """One of the variables that `python -m bootstrap services` sets; fails the test, saying how, where it is absent."""
    if not os.environ.get(name):
        pytest.fail(f"{name} {_HINT}", pytrace=False)
    return os.environ[name]


class _AtOnce:
    """Names a test as soon as it has failed, with the reason: a run that is cut off has told what it knew."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            terminal = self._config.pluginmanager.get_plugin("terminalreporter")
            reason = report.longreprtext.strip().splitlines()[-1:]
            terminal.write_line(f"\n{report.outcome} in {report.when}: {report.nodeid}: {''.join(reason)}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long the soak is (tests/soak): a few trials where it is one test of many, thousands by `make soak`."""
    parser.addoption("--soak", type=int, default=60, help="trials of the soak")
    parser.addoption("--soak-seed", type=int, default=1, help="of its random faults")


def pytest_configure(config: pytest.Config) -> None:
    """Translations, a queue for each process that tests are spread over, and passwords that cost nothing."""
    number = process_number()
    if not number:
        config.pluginmanager.register(_AtOnce(config))
        if os.environ.get("TEITEN_STATE"):  # else it would begin the checkout's own, which `make demo` refuses
            catalogues.compile_all()
    if number and os.environ.get("TEITEN_REDIS_URL"):
        os.environ["TEITEN_REDIS_URL"] = f"{os.environ['TEITEN_REDIS_URL'].rpartition('/')[0]}/{number}"
        settings.CELERY_BROKER_URL = os.environ["TEITEN_REDIS_URL"]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What became of trials that faults met (tests/faults), from all processes that tests are spread over."""
    reports = [one for outcome in ("passed", "failed") for one in terminalreporter.stats.get(outcome, [])]
    rows = [value for one in reports for name, value in one.user_properties if name == ROW and one.when == "call"]
    if not rows:
        return
    phases = list(rows[0][1])
    lines = [f"| fault | {' | '.join(phases)} |", f"|{'---|' * (len(phases) + 1)}"]
    lines += [f"| {fault} | {' | '.join(outcomes.values())} |" for fault, outcomes in rows]
    terminalreporter.section("what became of trials")
    terminalreporter.write_line("\n".join(lines))


def process_number() -> int:
    """Which of the processes that pytest-xdist spreads the tests over this is, from 1; 0 where it spreads nothing."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw-1").removeprefix("gw")) + 1


class _Files(LoadScopeScheduling):
    """The tests of a file stay in one process, and so do the files that go together."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return TOGETHER.get(file, file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _Files(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Marks each test by its folder, before pytest chooses by -m, and begins with the slowest files, when pytest-django
    has sorted the tests by what they do to their database."""
    for item in items:
        kind = _kind(item)
        if kind:
            item.add_marker(kind)
            item.add_marker("slow")
        if "kept" in getattr(item, "fixturenames", ()):
            item.add_marker("django_db")
        if kind in ("live", "faults"):
            # A machine that is busy with something else may fail one; each repetition is listed at the end.
            item.add_marker(pytest.mark.flaky(reruns=1))
    yield
    order = ["faults", "bootstrap", "soak", "", "live", "browser"]
    items.sort(key=lambda item: order.index(_kind(item)))


def pytest_collection_finish() -> None:
    """What thousands of tests consist of stays until the end: it need not be looked through again and again."""
    gc.collect()
    gc.freeze()


def _kind(item: pytest.Item) -> str:
    return next((kind for folder, kind in FOLDERS.items() if item.nodeid.startswith(folder)), "")


@pytest.fixture(autouse=True)
def _everything_is_read() -> None:
    """A request says who reads until another one does; a test begins as a worker or command does."""
    read_as(lambda: EVERYTHING)


@pytest.fixture(autouse=True)
def _nobody_reads() -> None:
    """A request leaves its language behind until another one; a test begins in that of the settings."""
    translation.deactivate()


@pytest.fixture(scope="module")
def kept(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """For a fixture in the scope of a file, which makes the rows that all its tests begin with: each test goes back to
    them, and the file leaves none. Of use where tests commit nothing, and making the rows takes longer than looking at
    them. All tests of the file are to ask for it (autouse, or usefixtures), so that none depends on those before."""
    with django_db_blocker.unblock(), transaction.atomic():
        read_as(lambda: EVERYTHING)
        translation.deactivate()
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session")
def agent_environment() -> dict[str, Any]:
    """How to reach the tests' agent: a real sshd on this machine and an account of its own behind it.

    host, port (int), user, key_path, host_key ('ssh-ed25519 AAAA…'), home (its folder), search (list of folders)."""
    return {
        "host": surrounding("TEITEN_AGENT_HOST"),
        "port": int(surrounding("TEITEN_AGENT_PORT")),
        "user": surrounding("TEITEN_AGENT_USER"),
        "key_path": surrounding("TEITEN_AGENT_KEY"),
        "host_key": surrounding("TEITEN_AGENT_HOST_KEY"),
        "home": surrounding("TEITEN_AGENT_HOME"),
        "search": surrounding("TEITEN_AGENT_SEARCH").split(":"),
    }


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """The test database, in which single values can be changed, and which has partitions for more runs than tests make:
    one that is made within a test's transaction is rolled back with it."""
    with django_db_blocker.unblock():
        single_values.allow()
        ranges.make(0, RUNS_OF_TESTS)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Asked by pytest-django before it makes the test database, one for each process."""
    surrounding("TEITEN_DATABASE_URL")
