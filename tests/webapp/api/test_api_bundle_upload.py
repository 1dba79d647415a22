"""A trial is measured where Teiten cannot reach, and its bundle is brought by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from results import models, runs
from results.bundle_storage import UNFINISHED
from results.domain.errors import BodyError, HostKeyError, UnreachableError
from tests import factories
from tests.hostile import manifest_of, packed
from tests.measured_runs import BROKE, write_bundle
from workers import uploads
from workers.bundle import reader

pytestmark = pytest.mark.django_db
Visitor = Callable[[str], APIClient]


@pytest.fixture
def trial(bundles: Path) -> models.Trial:
    trials = factories.run(collectors=["pg_stat"]).trials.select_related("configuration")
    return trials.order_by("position")[0]


def made_elsewhere(trial: models.Trial, number: int = 1, error: dict[str, Any] | None = None) -> bytes:
    """A bundle that is not in this Teiten's folder."""
    path = Path(settings.TEITEN_BUNDLE_DIR) / write_bundle(trial, number, error).path
    data = path.read_bytes()
    path.unlink()
    return data


def sent(client: APIClient, trial_id: int, data: bytes, key: str = "", **headers: str) -> Any:
    named = {"HTTP_IDEMPOTENCY_KEY": key} if key else {}
    address = f"/api/v1/trials/{trial_id}/bundle/"
    return client.generic("POST", address, data, content_type="application/gzip", **named, **headers)


def nothing_stored(bundles: Path) -> bool:
    left = [path for path in bundles.rglob("*") if path.is_file()]
    return not models.Attempt.objects.exists() and not models.Upload.objects.exists() and not left


def test_it_is_stored_as_the_trial_s_next_attempt_with_its_raw_files(
    trial: models.Trial, visitor: Visitor, anonymous: APIClient
) -> None:
    data = made_elsewhere(trial)
    answer = sent(visitor("admin"), trial.pk, data, "first")
    assert (answer.status_code, answer.json()["id"], answer.json()["state"]) == (201, trial.pk, "done")
    assert answer.json()["value"] == pytest.approx(1000 + trial.position + 1 / 3)
    attempt = models.Attempt.objects.get(trial=trial)
    assert (attempt.number, attempt.state, attempt.worker) == (1, "done", "uploaded by token admin token (ada)")
    assert attempt.started_at < attempt.ended_at < models.Upload.objects.get().at
    kept: Any = anonymous.get(f"/api/v1/trials/{trial.pk}/bundle/")
    assert b"".join(kept.streaming_content) == data
    entry = models.AuditEntry.objects.get(verb="upload bundle")
    assert (entry.object, entry.detail["attempt"]) == (f"trial {trial.pk}", 1)


def test_the_same_upload_sent_again_gives_the_same_answer_and_stores_nothing(
    trial: models.Trial, visitor: Visitor
) -> None:
    data, client = made_elsewhere(trial), visitor("admin")
    first = sent(client, trial.pk, data, "a")
    measurements = models.Measurement.objects.count()
    again = sent(client, trial.pk, data, "a")
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    with_another_key = sent(client, trial.pk, data, "b")
    assert (with_another_key.status_code, with_another_key.json()) == (200, first.json())
    assert (models.Attempt.objects.count(), models.Measurement.objects.count()) == (1, measurements)


@pytest.mark.parametrize(("key", "again"), [("a", True), ("", False)])
def test_two_equal_uploads_at_once_store_one_and_both_are_told_so(
    key: str, again: bool, trial: models.Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, parse, user = made_elsewhere(trial), uploads._parsed, User.objects.create(username="carrier")
    answers: list[tuple[int, bool]] = []

    def receive() -> tuple[int, bool]:
        return uploads.receive_bundle(trial.pk, [data], user=user, actor="tests", key=key)

    def parsed_while_the_other_is_stored(path: Path, of: models.Trial) -> Any:
        monkeypatch.setattr(uploads, "_parsed", parse)
        answers.append(receive())
        return parse(path, of)

    monkeypatch.setattr(uploads, "_parsed", parsed_while_the_other_is_stored)
    answers.append(receive())
    assert answers == [(trial.pk, True), (trial.pk, again)]
    assert models.Attempt.objects.get().bundle_sha256


def test_a_key_of_another_upload_is_refused(trial: models.Trial, visitor: Visitor) -> None:
    client, other = visitor("admin"), trial.run.trials.order_by("position").last()
    other_data = made_elsewhere(other)
    sent(client, trial.pk, made_elsewhere(trial), "a")
    for trial_id, data in ((trial.pk, other_data), (other.pk, other_data)):
        answer = sent(client, trial_id, data, "a")
        assert (answer.status_code, answer.json()["error"]["where"]) == (409, "Idempotency-Key")
    assert models.Attempt.objects.count() == 1
    assert sent(client, other.pk, other_data, "b").status_code == 201


def test_a_failed_attempt_is_stored_as_one(trial: models.Trial, visitor: Visitor) -> None:
    answer = sent(visitor("admin"), trial.pk, made_elsewhere(trial, error=BROKE))
    assert (answer.status_code, answer.json()["state"]) == (201, "failed")
    assert models.Attempt.objects.get().error["what"] == BROKE["what"]
    assert sent(visitor("admin"), trial.pk, made_elsewhere(trial, 2)).status_code == 409


def test_an_agent_that_was_down_elsewhere_fails_the_trial_and_is_none_of_this_teiten(
    trial: models.Trial, visitor: Visitor
) -> None:
    """Such a bundle comes of `run_orders` without attack, with names that agents here may have as well."""
    agent = models.Agent.objects.get()
    cause = HostKeyError("Its key has changed.", where=agent.location, fingerprint="SHA256:other", retryable=True)
    for name in (agent.name, "nosuch"):
        data = made_elsewhere(trial, trial.attempts.count() + 1, UnreachableError(name, cause).as_dict())
        answer = sent(visitor("admin"), trial.pk, data)
        assert (answer.status_code, answer.json()["state"]) == (201, "failed")
        error = models.Attempt.objects.order_by("number").last().error
        assert (error["what"], error["retryable"]) == ("Its key has changed.", False)
        assert not error.keys() & {"unreachable", "agent", "fingerprint"}
        before, agent = agent, models.Agent.objects.get()
        assert (agent.state, agent.error, agent.offered_fingerprint) == (
            before.state,
            before.error,
            before.offered_fingerprint,
        )
        runs.retry_failed(trial.run_id, "tests")


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ({"unreachable": 1}, "error.unreachable: 1 is not true or false"),
        ({"kind": "x", "what": ["y"]}, "error.what: ['y'] is not text"),
        ({"kind": "x", "exit_status": "0"}, "error.exit_status"),
        ({"fingerprint": {}}, "error.fingerprint: {} is not text"),
        ({"retryable": "no"}, "error.retryable: 'no' is not true or false"),
    ],
)
def test_an_error_of_another_shape_is_refused_with_its_field(
    error: dict[str, Any], why: str, trial: models.Trial, visitor: Visitor, bundles: Path
) -> None:
    answer = sent(visitor("admin"), trial.pk, rewritten(made_elsewhere(trial), bundles, error=error))
    assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "ingest")
    assert why in answer.json()["error"]["why"]
    assert nothing_stored(bundles)


def test_an_error_that_says_only_that_an_agent_was_unreachable_is_a_failure(
    trial: models.Trial, visitor: Visitor, bundles: Path
) -> None:
    data = rewritten(made_elsewhere(trial, error=BROKE), bundles, error={"unreachable": True})
    answer = sent(visitor("admin"), trial.pk, data)
    assert (answer.status_code, answer.json()["state"]) == (201, "failed")


def test_a_bundle_whose_process_was_killed_before_its_commit_is_taken_when_it_is_sent_again(
    trial: models.Trial, visitor: Visitor, anonymous: APIClient
) -> None:
    data = made_elsewhere(trial)
    in_its_place(trial, data)
    assert sent(visitor("admin"), trial.pk, data).status_code == 201
    kept: Any = anonymous.get(f"/api/v1/trials/{trial.pk}/bundle/")
    assert b"".join(kept.streaming_content) == data


def test_another_file_in_the_place_of_a_bundle_is_neither_replaced_nor_moved(
    trial: models.Trial, visitor: Visitor
) -> None:
    data = made_elsewhere(trial)
    there = in_its_place(trial, b"all that is left of another trial")
    answer = sent(visitor("admin"), trial.pk, data)
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"], error["where"]) == (400, "ingest", str(there))
    assert "Move it away" in error["todo"]
    assert there.read_bytes() == b"all that is left of another trial"
    assert not models.Attempt.objects.exists()
    there.unlink()
    assert sent(visitor("admin"), trial.pk, data).status_code == 201


def in_its_place(trial: models.Trial, data: bytes) -> Path:
    path = Path(settings.TEITEN_BUNDLE_DIR) / str(trial.run_id) / f"{trial.pk}-1.tar.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("scope", "status"), [("anonymous", 401), ("read", 403), ("run", 403)])
def test_it_needs_the_scope_admin(
    scope: str, status: int, trial: models.Trial, visitor: Visitor, bundles: Path
) -> None:
    answer = sent(visitor(scope), trial.pk, made_elsewhere(trial))
    assert (answer.status_code, answer.json()["error"]["kind"]) == (status, "access")
    assert nothing_stored(bundles)


def rewritten(data: bytes, folder: Path, **changes: Any) -> bytes:
    path = folder / "changed" / "b.tar.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    files = reader.open_files(path)
    changed = packed(path, files, manifest_of(files) | changes).read_bytes()
    path.unlink()
    return changed


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"trial_key": "9/9"}, "attempt"),
        ({"attempt": 2}, "manifest.json: attempt"),
        ({"spec": {}}, "manifest.json: spec"),
        ({"ended_s": 1e300}, "manifest.json: ended_s"),
        ({"window": [3, 2]}, "manifest.json: window"),
        ({"notes": {"look": 1}}, "manifest.json"),
    ],
)
def test_a_bundle_of_another_trial_or_that_cannot_be_is_refused_and_leaves_nothing(
    changes: dict[str, Any], where: str, trial: models.Trial, visitor: Visitor, bundles: Path
) -> None:
    answer = sent(visitor("admin"), trial.pk, rewritten(made_elsewhere(trial), bundles, **changes), "a")
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"]) == (400, "ingest")
    assert error["where"].startswith(where)
    assert nothing_stored(bundles)
    trial.refresh_from_db()
    assert (trial.state, trial.attempts_made) == ("waiting", 0)


def test_a_bundle_of_another_configuration_is_refused(trial: models.Trial, visitor: Visitor, bundles: Path) -> None:
    spec = dict(trial.configuration.spec) | {"duration_s": 7}
    answer = sent(visitor("admin"), trial.pk, rewritten(made_elsewhere(trial), bundles, spec=spec))
    assert "another configuration" in answer.json()["error"]["what"]
    assert nothing_stored(bundles)


@pytest.mark.parametrize("data", [b"", b"x", b"\x1f\x8b\x08", json.dumps({"a": 1}).encode()])
def test_what_is_no_archive_is_refused(data: bytes, trial: models.Trial, visitor: Visitor, bundles: Path) -> None:
    answer = sent(visitor("admin"), trial.pk, data)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "ingest")
    assert nothing_stored(bundles)


def test_one_that_is_too_large_is_refused_by_its_length_before_it_is_read(
    trial: models.Trial, visitor: Visitor, bundles: Path
) -> None:
    class Unread:
        """A body that nobody may read."""

        def read(self, size: int = -1) -> bytes:
            raise AssertionError("The body was read.")

        readline = read

    length = str(uploads.MOST_BYTES + 1)
    extra = {"CONTENT_LENGTH": length, "wsgi.input": Unread()}
    answer = visitor("admin").generic("POST", f"/api/v1/trials/{trial.pk}/bundle/", b"", **extra)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, "body")
    assert nothing_stored(bundles)


def test_one_that_is_larger_than_it_says_is_refused(
    trial: models.Trial, monkeypatch: pytest.MonkeyPatch, bundles: Path
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES", 5000)
    endless = iter(lambda: bytes(1000), None)
    with pytest.raises(BodyError, match="or more"):
        uploads.receive_bundle(trial.pk, endless, user=None, actor="tests")
    assert list((bundles / UNFINISHED).iterdir()) == []


def test_a_key_that_is_none_and_a_body_of_unknown_length_are_refused(trial: models.Trial, visitor: Visitor) -> None:
    data = made_elsewhere(trial)
    for key in ("two words", "x" * 201):
        answer = sent(visitor("admin"), trial.pk, data, key)
        assert (answer.status_code, answer.json()["error"]["where"]) == (400, "Idempotency-Key")
    answer = sent(visitor("admin"), trial.pk, data, HTTP_TRANSFER_ENCODING="chunked")
    assert (answer.status_code, answer.json()["error"]["where"]) == (413, "Transfer-Encoding")
    assert sent(visitor("admin"), factories.NO_ID, data).status_code == 404


def test_the_last_trial_s_bundle_ends_the_run(trial: models.Trial, visitor: Visitor) -> None:
    for one in trial.run.trials.select_related("configuration"):
        assert sent(visitor("admin"), one.pk, made_elsewhere(one)).status_code == 201
    run = models.Run.objects.get(pk=trial.run_id)
    assert run.state == "finished"
    assert run.ended_at is not None


def test_what_is_hidden_in_a_bundle_makes_it_none_of_another_configuration(
    trial: models.Trial, visitor: Visitor, bundles: Path
) -> None:
    """A command that is hidden by its name, and a password in a run from before plans with one were refused."""
    secret = {"ssl_passphrase_command": "echo canary", "primary_conninfo": "host=a password=canary"}
    trial.configuration.spec["settings"] |= secret
    trial.configuration.save()
    data = made_elsewhere(trial)
    (bundles / "sent.tar.gz").write_bytes(data)
    assert b"canary" not in reader.open_files(bundles / "sent.tar.gz")["manifest.json"]
    (bundles / "sent.tar.gz").unlink()
    assert sent(visitor("admin"), trial.pk, data).status_code == 201
    other = models.Trial.objects.filter(run=trial.run_id).exclude(configuration=trial.configuration).first()
    assert other is not None
    assert sent(visitor("admin"), other.pk, data).status_code == 400
