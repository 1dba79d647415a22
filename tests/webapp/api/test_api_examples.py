"""The commands of docs/api.md, carried out in a warehouse as `make demo` leaves it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from rest_framework.test import APIClient

from bootstrap import ports
from results import models, runs, stored_plans
from results.domain import plan
from results.published.catalogue import TABLES
from results.published.load import load
from tests import factories
from tests.webapp.api.conftest import Visitor
from workers import registry

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "api.md").read_text()
PLAN = (ROOT / "plans" / "demo.toml").read_text()
OF_THE_WEB = f"{ports.HOST}:{ports.WEB_PORT}"


@pytest.fixture
def demo(db: Any) -> models.Run:
    """The run that the demo makes, done, behind the published tables."""
    load(TABLES, registry.known_metrics(), "tests")
    factories.agent("demo", {"16.9": 160009, "18.1": 180001})
    wanted = plan.read(PLAN, registry.kinds())
    stored = stored_plans.save_plan(wanted, registry.kinds(), user=None, actor="tests")
    models.Plan.objects.filter(pk=stored.pk).update(id=1)  # the first one that the demo's warehouse stores
    run = runs.create_run(wanted, registry.kinds(), actor="tests", stored=models.Plan.objects.get(), as_admin=True)
    for trial in run.trials.select_related("configuration"):
        factories.finish(trial)
    runs.close_finished(run.pk)
    return run


def commands() -> list[str]:
    """Every command of the guide's shell blocks; what goes on in the next line is indented."""
    text = "\n".join(re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.M | re.S))
    return [command.replace("\\\n", " ") for command in re.split(r"\n+(?=\S)", text.strip())]


def words_of(command: str) -> Iterator[list[str]]:
    """The words of each part of a pipeline."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|")
    lexer.whitespace_split = True
    part: list[str] = []
    for word in lexer:
        if word == "|":
            yield part
            part = []
        else:
            part.append(word)
    yield part


def carried_out(command: str, client: APIClient) -> Any:
    """The answer to the command's last request."""
    answer: Any = None
    for program, *words in words_of(command):
        if program == "xargs":
            program, *words = [str(answer) if word == "{}" else word.replace("{}", str(answer)) for word in words[1:]]
        if program == "jq":
            for step in re.findall(r"\w+", words[-1]):
                answer = answer[int(step) if step.isdigit() else step]
        else:
            assert program == "curl", command
            answer = requested(words, answer, client)
    return answer


def requested(words: list[str], before: Any, client: APIClient) -> Any:
    url = next(word for word in words if word.startswith("http"))
    if urlsplit(url).netloc != "testserver":  # but where the test's own server said so
        assert urlsplit(url).netloc == OF_THE_WEB, url
    body = words[words.index("-d") + 1] if "-d" in words else ""
    sent = (
        before if body == "@-" else {"toml": PLAN} if body.startswith("$(jq -n --rawfile") else json.loads(body or "{}")
    )
    path = url.partition(urlsplit(url).netloc)[2]
    method = words[words.index("-X") + 1].lower() if "-X" in words else "get"
    answer = client.get(path) if method == "get" else getattr(client, method)(path, sent, format="json")
    assert answer.status_code < 300, (url, answer.content)
    return answer.json()


def test_every_command_does_what_it_says(demo: models.Run, visitor: Visitor) -> None:
    assert len(commands()) == 7  # recipes have a test of their own
    for command in commands():
        carried_out(command, visitor("admin"))
    assert models.Run.objects.count() == len(TABLES) + 4  # one behind own queries, one to wait, one of TOML


def test_the_first_command_shows_the_demos_own_medians(demo: models.Run, visitor: Visitor) -> None:
    first = carried_out(commands()[0], visitor("read"))["results"][0]
    [shown] = re.findall(r"^```json\n(.*?)^```$", GUIDE, re.M | re.S)[:1]
    [example] = json.loads(shown)["results"]
    # In a fresh warehouse the published trials have the first numbers, and the demo's the next.
    base = min(demo.trials.values_list("pk", flat=True)) - models.Trial.objects.exclude(run=demo).count() - 1
    values = [one - base for one in first["trial_ids"]]
    others = models.Configuration.objects.exclude(run=demo).count()
    assert example == first | {"trial_ids": values, "configuration_id": others + 1}
