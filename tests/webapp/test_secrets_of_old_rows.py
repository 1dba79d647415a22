"""Passwords that were stored before Teiten hid them at once: on no page, in no answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from results import models
from results.domain.environment.layers import LayerKind
from results.domain.packing import pack
from tests import factories
from tests.environments import set_environment

pytestmark = pytest.mark.django_db
CANARY = "Kanari3nv0gel"
CONNINFO = f"host=db9 port=5433 password={CANARY}"


@pytest.fixture
def attempt(settings: Any, tmp_path: Path) -> models.Attempt:
    """A finished run in whose rows and bundle a password stands wherever one could."""
    settings.TEITEN_BUNDLE_DIR = tmp_path
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    stored = factories.stored_plan()
    run = factories.finished_run(stored=stored, bundles=tmp_path)
    attempt = models.Attempt.objects.filter(run=run).select_related("trial").first()
    assert attempt is not None
    toml = stored.toml + f'\n[settings]\nprimary_conninfo = "{CONNINFO}"\n'
    models.Plan.objects.update(toml=toml)
    models.Run.objects.update(toml=toml)
    error = {"kind": "trial", "what": CONNINFO, "where": "", "why": f"PGPASSWORD={CANARY}", "todo": ""}
    command = {"node": "client", "phase": "measure", "command": CONNINFO, "exit_status": 0, "seconds": 1.0}
    models.Attempt.objects.update(error=error, commands=[command])
    content = {"primary_conninfo": CONNINFO, "ssl_passphrase_command": f"echo {CANARY}"}
    layer = models.Layer.objects.create(hash="old", kind=LayerKind.SETTINGS, content=content)
    used = attempt.layer_uses.values_list("node", "layer_id")
    set_environment(attempt.pk, [*used, ("primary", layer.pk)])
    (tmp_path / "old.tar.gz").write_bytes(pack({"server/log.txt": CONNINFO.encode()}))
    models.Attempt.objects.update(bundle="old.tar.gz")
    return attempt


@pytest.mark.parametrize(
    "path",
    [
        "/trials/{trial}/",
        "/trials/{trial}/1/file/server/log.txt",
        "/runs/{run}/",
        "/runs/{run}/plan.toml",
        "/plans/{plan}/",
        "/plans/{plan}/plan.toml",
        "/diff/?left=trial:{trial}&right=trial:{other}",
        "/api/v1/trials/{trial}/",
        "/api/v1/trials/{trial}/files/server/log.txt",
        "/api/v1/runs/{run}/",
        "/api/v1/plans/{plan}/",
        "/api/v1/plans/{plan}.toml",
        "/api/v1/diff/?left=trial:{trial}&right=trial:{other}",
    ],
)
def test_it_is_hidden(path: str, attempt: models.Attempt) -> None:
    other = models.Trial.objects.filter(run=attempt.run_id).exclude(pk=attempt.trial_id).latest("pk").pk
    ids = {"trial": attempt.trial_id, "run": attempt.run_id, "plan": models.Plan.objects.get().pk, "other": other}
    client = Client()
    client.force_login(factories.member(staff=True))
    answer = client.get(path.format(**ids))
    assert answer.status_code == 200
    text = answer.getvalue().decode()
    assert CANARY not in text
    if "/runs/" not in path:
        assert "host=db9 port=5433 password=(hidden)" in text
