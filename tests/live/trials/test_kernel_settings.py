"""A real setting of this machine's kernel, by the guide's own definition and by sudo: set for a trial, checked, and
back afterwards, also when the worker was killed. It is one that hardly anything notices."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from results import hostfactors, models, runs
from results.domain.kinds.host_factors import read
from tests.live.trials.conftest import PATIENCE_S, Start, start, wait_for
from workers import dispatch, lease, tasks
from workers.remote.address import Address

KERNEL = Path("/proc/sys/vm/swappiness")
LEVEL = "60" if KERNEL.read_text().strip() == "1" else "1"  # another one than the machine's own


@pytest.fixture
def own(agent: models.Agent, address: Address) -> Iterator[str]:
    """The kernel's own value. The agent has the guide's factor `swappiness`, and its account the right to set it, and
    no more."""
    if os.geteuid() != 0:
        pytest.skip("only root can allow the agent's account to set something of the kernel")
    before = KERNEL.read_text().strip()
    try:
        KERNEL.write_text(f"{before}\n")
    except OSError as error:
        pytest.skip(f"nobody may set anything of the kernel here: {error}")
    guide = (Path(django_settings.BASE_DIR) / "docs" / "host-factors.md").read_text()
    [text] = re.findall(r"\[swappiness\]\n.*?(?=```)", guide, re.DOTALL)
    hostfactors.define(agent, read(text), "test")
    rule = Path(f"/etc/sudoers.d/teiten-test-{os.getpid()}")
    rule.write_text(f"{address.user} ALL=(root) NOPASSWD: /usr/sbin/sysctl -q vm.swappiness=*\n")
    rule.chmod(0o440)
    try:
        yield before
        assert KERNEL.read_text().strip() == before
    finally:
        rule.unlink()
        subprocess.run(["sysctl", "-q", f"vm.swappiness={before}"], check=True)


def test_a_setting_of_the_kernel_is_set_checked_and_back(measure: Callable[..., models.Attempt], own: str) -> None:
    attempt = measure(duration_s=1, host={"swappiness": LEVEL})
    assert attempt.error is None, attempt.error
    checks = {check["name"]: (check["actual"], check["passed"]) for check in attempt.checks}
    assert checks["host.swappiness"] == (LEVEL, True)
    assert KERNEL.read_text().strip() == own
    assert not models.HostChange.objects.exists()


def test_it_is_back_after_the_worker_was_killed(worker: Start, own: str) -> None:
    first = worker()
    run = start(duration_s=1, warmup_s=8, host={"swappiness": LEVEL})
    tasks.dispatch.delay()
    wait_for(lambda: models.Trial.objects.filter(phase="warm").exists())
    first.kill()
    first.wait(PATIENCE_S)
    assert KERNEL.read_text().strip() == LEVEL
    assert models.HostChange.objects.get().own == own
    runs.cancel_run(run.pk, "test")
    dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 5))
    worker()
    tasks.reap()
    wait_for(lambda: not models.HostChange.objects.exists())
    assert KERNEL.read_text().strip() == own
