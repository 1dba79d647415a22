"""Every operation of the OpenAPI schema, called by schemathesis with thousands of right and wrong requests.

It asks a gunicorn in front of a warehouse with rows, as an administrator, as a member and as nobody. No answer may be a
5xx, but for 502 of an agent that cannot be reached; none may have a status or a content type that the schema does not
name, or differ from the schema. The requests are the same each time; `TEITEN_CASES=40` makes more of them. How many
there were, and their statuses, is logged (`--log-cli-level=INFO`)."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from drf_spectacular.generators import SchemaGenerator

from results import models
from tests import factories
from tests.gunicorn import Served, served
from tests.imported import imported
from tests.webapp.api.test_api_access import NEW_AGENT

pytestmark = pytest.mark.slow
log = logging.getLogger(__name__)
CASES = int(os.environ.get("TEITEN_CASES", "4"))  # of each operation in the phase that makes them at random
CHAINS_A_CASE = 10  # of operations, each with what the one before it answered
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "missing_required_header",
    "use_after_free",
    "ensure_resource_availability",
)
OF_AGENTS = ("/contact/", "/remove-clusters/")  # 502 says that an agent cannot be reached
FEWEST = 2000  # requests: the schema's limits alone give so many
HOOKS = Path(__file__).with_name("schemathesis_hooks.py")
# path of operations → parameter → whose ids or names it takes
IDS = {
    "/agents/{name}": {"path.name": "agents"},
    "/host-factors/{factor}": {"path.factor": "factors"},
    "/plans/{id}": {"path.id": "plans"},
    "/ready-plans/{slug}": {"path.slug": "ready"},
    "/runs/{id}": {"path.id": "runs"},
    "/trials/{id}": {"path.id": "trials", "path.path": "files"},
    "/annotations/{id}": {"path.id": "annotations"},
    "/citations/{hash}": {"path.hash": "citations"},
    "/imports/{slug}": {"path.slug": "imports"},
    "/reports/{report}": {"path.report": "reports"},
    "/comparison": {"query.run": "run"},
    "/measurements/": {"query.run": "run"},
    "/flame/": {"query.a": "trial", "query.b": "trial"},
    "/diff/": {"query.left": "side", "query.right": "side"},
}


# operation → a body that it takes; schemathesis sends it as it is, and changes it
EXAMPLES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "agents/"): NEW_AGENT,
    ("patch", "agents/{name}/"): {"enabled": False},
    ("post", "agents/{name}/accept-host-key/"): {"fingerprint": "SHA256:wrong"},
    ("post", "agents/{name}/remove-clusters/"): {"directories": ["/srv/data/clusters/a"]},
    ("post", "agents/{name}/host-factors/"): {"toml": factories.HOST_FACTOR},
    ("put", "agents/{name}/host-factors/{factor}/"): factories.host_factor().to_mapping(),
    ("post", "plans/"): factories.mapping(name="another"),
    ("put", "plans/{id}/"): factories.mapping(name="renamed"),
    ("patch", "plans/{id}/"): {"archived": True},
    ("post", "plans/preview/"): factories.mapping(),
    ("post", "ready-plans/{slug}/plan/"): {"agents": {"primary": "db1"}},
    ("post", "runs/"): factories.mapping(),
    ("patch", "runs/{id}/"): {"standing": "excluded", "tags": ["paper"]},
    ("post", "runs/{id}/blocks/"): {"blocks": 1},
    ("post", "annotations/"): {"at": "2026-01-31T02:00:00Z", "text": "moved"},
}


@pytest.fixture
def world(transactional_db: None, world: dict[str, Any], bundles: Path) -> dict[str, list[Any]]:
    """What is in the warehouse, by whose it is; and an agent at an address that refuses at once."""
    models.Agent.objects.update(host="127.0.0.1", port=1)
    finished = factories.finished_run(bundles=bundles)
    report = factories.edition(factories.finished_run()).report_id
    trials = [world["done"], world["failed"], world["waiting"]]
    return {
        "agents": ["db1"],
        "factors": ["cpu_governor"],
        "plans": [world["plan"]],
        "ready": ["own-queries"],
        "runs": [world["run"], finished.pk],
        "run": [str(world["run"]), f"{world['run']},{finished.pk}"],
        "trials": trials,
        "trial": [str(world["done"])],
        "side": [f"trial:{world['done']}", f"run:{finished.pk}", "agent:db1"],
        "files": ["server/log.txt"],
        "annotations": [world["annotation"]],
        "citations": [world["citation"]],
        "imports": [imported().slug],
        "reports": [report],
    }


@pytest.mark.parametrize("scope", ["admin", "run", "anonymous"])
def test_no_request_is_answered_otherwise_than_the_schema_says(
    scope: str, world: dict[str, list[Any]], owner: User, tmp_path: Path
) -> None:
    secret = factories.tokens(owner).get(scope)
    with served(tmp_path) as here:
        done = schemathesis(here, tmp_path, world, secret)
        answers = here.answers()
    log.info("as %s: %d requests, statuses %s", scope, len(answers), Counter(status for *_, status in answers))
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert [one for one in answers if one[2] >= 500 and not (one[2] == 502 and one[1].endswith(OF_AGENTS))] == []
    assert len(answers) > FEWEST
    assert "Traceback" not in here.printed()


def schemathesis(here: Served, folder: Path, world: dict[str, list[Any]], secret: str | None) -> Any:
    (folder / "schemathesis.toml").write_text(configuration(world), encoding="utf-8")
    (folder / "schema.json").write_text(json.dumps(schema()), encoding="utf-8")
    program = str(Path(sys.executable).parent / "schemathesis")
    phases = ("--phases", "examples,coverage,fuzzing,stateful", "--checks", ",".join(CHECKS))
    # what is answered is tested, and not how fast: figures take long where other tests have the processors
    each_time = ("--generation-deterministic", "--no-shrink", "--continue-on-failure", "--request-timeout", "120")
    token = (
        ("--header", f"Authorization: Bearer {secret}") if secret else ("--generation-with-security-parameters", "no")
    )
    return subprocess.run(
        [
            *(program, "--config-file", "schemathesis.toml", "run", "schema.json", "--url", here.url),
            *(*phases, *each_time, "--no-color", *token),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )


def schema() -> dict[str, Any]:
    """The OpenAPI description, with the examples."""
    described: dict[str, Any] = SchemaGenerator().get_schema(public=True)
    for (method, path), body in EXAMPLES.items():
        described["paths"][f"/api/v1/{path}"][method]["requestBody"]["content"]["application/json"]["example"] = body
    return described


def configuration(world: dict[str, list[Any]]) -> str:
    """Where ids and names are asked for, most are of what is there; elsewhere schemathesis makes them up."""
    lines = [f"hooks = {json.dumps(str(HOOKS))}"]
    lines += ["[generation]", f"max-examples = {CASES}"]
    lines += ["[phases.stateful.generation]", f"max-examples = {CHAINS_A_CASE * CASES}"]
    for name, values in world.items():
        lines += [f"[dictionaries.{name}]", f"values = {json.dumps(values)}"]
    for path, parameters in IDS.items():
        lines += ["[[operations]]", f"include-path-regex = {json.dumps(path.replace('{', '[{]').replace('}', '[}]'))}"]
        lines += ["[operations.parameters]"]
        lines += [f'"{name}" = {{ dictionary = "{values}", probability = 0.7 }}' for name, values in parameters.items()]
    for path in OF_AGENTS:
        lines += ["[[operations]]", f'include-path-regex = "{path}$"', "[operations.checks.not_a_server_error]"]
        lines += ['expected-statuses = ["2xx", "3xx", "4xx", 502]']
    return "\n".join(lines) + "\n"
