"""Sending alerts to a real SMTP server and a real HTTP server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6, SOCK_DGRAM, create_server, socket
from threading import Thread
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.utils import timezone
from django.utils.translation import override

from results import alerts, models, own_addresses
from tests import histories
from workers.alerting import send_due
from workers.outgoing import is_forbidden
from workers.tasks import alert

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _this_machine_may_be_reached(settings: Any) -> None:
    settings.TEITEN_WEBHOOK_HOSTS = ("127.0.0.1",)


class Mailbox:
    """An SMTP server that stores what it is given."""

    def __init__(self) -> None:
        self.letters: list[Any] = []
        self.refuse = False

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refuse:
            return "451 4.3.0 the disk is full"
        self.letters.append((envelope.rcpt_tos, message_from_bytes(envelope.content, policy=policy.default)))
        return "250 OK"


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    box = Mailbox()
    with socket() as probe:  # aiosmtpd wants to know its port beforehand
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Controller(box, hostname="127.0.0.1", port=port)
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.TEITEN_ADDRESS = "https://teiten.example.org"
    yield box
    server.stop()


class Hook:
    """An HTTP server that stores what is posted and answers with a status."""

    def __init__(self) -> None:
        self.status, self.location = 200, ""
        self.posted: list[tuple[str, dict[str, str], Any]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.posted.append((self.path, dict(self.headers), json.loads(body)))
                self.send_response(hook.status)
                if hook.location:
                    self.send_header("Location", hook.location)
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    thread = Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def worse(channel: str, target: str) -> models.Run:
    """Return the later of a plan's two runs, with a watch on the plan."""
    plan = histories.nightly(replicates=5)
    alerts.watch(plan, channel, target, user=None, actor="tests")
    return histories.months(plan, [8000, 7200])[-1]


def test_a_letter_says_what_is_worse_and_where_to_look(mailbox: Mailbox) -> None:
    run = worse("email", "ada@example.org")
    alert()
    ((to, letter),) = mailbox.letters
    assert to == ["ada@example.org"]
    assert letter["Subject"] == f"[Teiten] nightly: 1 of 1 worse in run {run.pk}"
    text = letter.get_content()
    assert "the only configuration: " in text
    assert re.search(
        r"worse in these runs: median [78],\d{3} tps → 7,\d{3} tps; ratio of geometric means ×0\.(89|90)", text
    )
    assert (
        f"https://teiten.example.org/compare/?run={run.pk - 1},{run.pk}&x=workload&series=run&baseline={run.pk - 1}"
        in (text.replace("\n", ""))
    )
    sent = models.Alert.objects.get(run=run)
    assert (sent.state, sent.error, sent.tries) == ("sent", "", 0)
    assert letter["Message-ID"] == f"<alert-{sent.pk}@localhost>"
    alert()
    assert len(mailbox.letters) == 1


def test_an_alert_is_in_the_language_of_who_asked_for_it(mailbox: Mailbox) -> None:
    plan = histories.nightly(replicates=5)
    with override("ja"):
        alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    alerts.watch(plan, "email", "bob@example.org", user=None, actor="tests")
    run = histories.months(plan, [8000, 7200])[-1]
    alert()
    subjects = {to: (letter["Subject"], letter.get_content()) for (to,), letter in mailbox.letters}
    japanese, english = subjects["ada@example.org"], subjects["bob@example.org"]
    assert english[0] == f"[Teiten] nightly: 1 of 1 worse in run {run.pk}"
    assert "劣化" in japanese[0] and f"実行{run.pk}" in japanese[0]
    assert "中央値" in japanese[1] and "worse" not in japanese[1]
    assert re.findall(r"×0\.\d{3}", japanese[1]) == re.findall(r"×0\.\d{3}", english[1]) != []


def test_a_webhook_gets_every_number_as_json(hook: Hook, settings: Any) -> None:
    settings.TEITEN_ADDRESS = "https://teiten.example.org"
    run = worse("webhook", hook.url)
    alert()
    ((path, headers, body),) = hook.posted
    assert path == "/hook"
    assert headers["Content-Type"] == "application/json"
    assert (body["event"], body["run"]["id"], body["before"]["id"], body["cells"]) == (
        "run.worse",
        run.pk,
        run.pk - 1,
        1,
    )
    assert (body["lost"], body["failed"], body["trials"]) == ([], 0, 5)
    assert body["worse"][0]["kind"] == "worse"
    assert body["worse"][0]["ratio"] == pytest.approx(0.9, abs=0.01)
    assert sorted(body["worse"][0]["trials_after"]) == sorted(run.trials.values_list("pk", flat=True))
    assert body["run"]["url"] == f"https://teiten.example.org/runs/{run.pk}/"
    assert (body["worse"][0]["against"], body["worse"][0]["runs"]) == ([run.pk - 1], 0)
    assert "in these runs" in body["text"]
    assert models.Alert.objects.get(run=run).state == "sent"


def test_an_alert_names_how_many_runs_it_is_against(hook: Hook) -> None:
    plan = histories.nightly(replicates=5)
    alerts.watch(plan, "webhook", hook.url, user=None, actor="tests")
    *earlier, last = histories.months(plan, [8000, 8010, 7990, 8005, 7200])
    alert()
    ((_, _, body),) = hook.posted
    assert body["worse"][0]["against"] == [run.pk for run in earlier]
    assert f"against up to 4 runs before it, the last of them run {earlier[-1].pk}" in body["text"]
    assert "in these runs" not in body["text"]
    assert body["run"]["id"] == last.pk


def test_a_server_that_refuses_is_asked_again_later(mailbox: Mailbox) -> None:
    run = worse("email", "ada@example.org")
    mailbox.refuse = True
    alert()
    waiting = models.Alert.objects.get(run=run)
    assert (waiting.state, waiting.tries) == ("due", 1)
    assert "the disk is full" in waiting.error
    mailbox.refuse = False
    assert send_due(timezone.now()) == 0
    assert send_due(waiting.next_at) == 1
    assert len(mailbox.letters) == 1


def test_a_failing_webhook_is_named_and_tried_again(hook: Hook) -> None:
    run = worse("webhook", f"{hook.url}?token=secret")
    hook.status = 500
    alert()
    waiting = models.Alert.objects.get(run=run)
    assert "The webhook answered 500." in waiting.error
    assert "secret" not in waiting.error
    hook.status = 204
    assert send_due(waiting.next_at) == 1


def test_a_redirect_is_not_followed(hook: Hook) -> None:
    run = worse("webhook", hook.url)
    hook.status, hook.location = 302, hook.url + "/elsewhere"
    alert()
    assert [path for path, *_ in hook.posted] == ["/hook"]
    assert "The webhook answered 302." in models.Alert.objects.get(run=run).error


def test_a_webhook_that_nobody_answers_is_an_error_and_no_crash(hook: Hook) -> None:
    url = hook.url
    hook.server.socket.close()
    run = worse("webhook", url)
    alert()
    assert "The webhook cannot be reached." in models.Alert.objects.get(run=run).error


def test_an_answer_that_is_not_http_keeps_no_other_alert_from_being_sent(mailbox: Mailbox) -> None:
    with create_server(("127.0.0.1", 0)) as odd:
        thread = Thread(target=_answer_nonsense, args=(odd,))
        thread.start()
        plan = histories.nightly(replicates=5)
        alerts.watch(plan, "webhook", f"http://127.0.0.1:{odd.getsockname()[1]}/", user=None, actor="tests")
        alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
        histories.months(plan, [8000, 7200])
        alert()
        thread.join()
    assert len(mailbox.letters) == 1
    waiting = models.Alert.objects.get(state="due")
    assert waiting.tries == 1
    assert "The webhook cannot be reached. BadStatusLine" in waiting.error


def _answer_nonsense(server: Any) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"220 \x00 mail.example.org ESMTP\r\n")


def test_an_alert_that_cannot_be_written_keeps_no_other_from_being_sent(mailbox: Mailbox) -> None:
    plan = histories.nightly(replicates=5)
    for name in ("ada", "bob"):
        alerts.watch(plan, "email", f"{name}@example.org", user=None, actor="tests")
    histories.months(plan, [8000, 7200])
    alerts.judge_runs(timezone.now())
    models.Alert.objects.filter(state="due", watch__target__startswith="ada").update(content={})
    assert send_due(timezone.now()) == 1
    assert "KeyError" in models.Alert.objects.get(state="due").error


def test_what_is_due_is_sent_even_if_judging_fails(mailbox: Mailbox, monkeypatch: Any) -> None:
    worse("email", "ada@example.org")
    alerts.judge_runs(timezone.now())

    def broken(now: Any) -> int:
        raise RuntimeError("judging fails")

    monkeypatch.setattr(alerts, "judge_runs", broken)
    with pytest.raises(RuntimeError):
        alert()
    assert len(mailbox.letters) == 1


def test_a_ratio_without_an_interval_is_told_without_one(mailbox: Mailbox) -> None:
    """As where a replicate measured zero."""
    run = worse("email", "ada@example.org")
    alerts.judge_runs(timezone.now())
    waiting = models.Alert.objects.get(run=run)
    waiting.content["cells"][0] |= {"low": None, "high": None}
    waiting.save()
    assert send_due(timezone.now()) == 1
    ((_, letter),) = mailbox.letters
    assert "95 %" not in letter.get_content()


def test_what_was_not_measured_again_is_told(mailbox: Mailbox) -> None:
    run = worse("email", "ada@example.org")
    run.trials.update(state="failed")
    alert()
    ((_, letter),) = mailbox.letters
    assert letter["Subject"] == f"[Teiten] nightly: 1 not measured in run {run.pk}"
    assert "Every trial of it failed." in letter.get_content()
    assert "- the only configuration: measured before, not now: 5 trials failed" in letter.get_content()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"])
def test_a_webhook_does_not_reach_this_machine_unless_it_is_allowed(host: str, hook: Hook, settings: Any) -> None:
    settings.TEITEN_WEBHOOK_HOSTS = ()
    run = worse("webhook", hook.url.replace("127.0.0.1", host))
    alert()
    assert hook.posted == []
    error = models.Alert.objects.get(run=run).error
    assert "The webhook is at an address of this machine, of its link, or of a cloud's metadata service." in error
    assert "TEITEN_WEBHOOK_HOSTS" in error


def test_a_webhook_does_not_reach_this_machine_by_its_address_in_the_network() -> None:
    with socket(AF_INET, SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address beside the loopback one")
        own = probe.getsockname()[0]
    assert is_forbidden(own)
    assert is_forbidden(f"::ffff:{own}")
    assert is_forbidden(f"64:ff9b::{own}")


@pytest.mark.parametrize("nobodys", [own_addresses._DOCUMENTATION, {AF_INET: "127.0.0.1", AF_INET6: "::1"}])
def test_addresses_of_others_are_not_own_though_the_kernel_may_bind_them(
    nobodys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_addresses, "_DOCUMENTATION", nobodys)
    assert [own_addresses.is_own(text) for text in ("127.0.0.1", "192.0.2.1", "2001:db8::1")] == [True, False, False]


def test_an_allowed_host_is_allowed_in_capital_letters_too(hook: Hook, settings: Any) -> None:
    settings.TEITEN_WEBHOOK_HOSTS = ("LocalHost",)
    run = worse("webhook", hook.url.replace("127.0.0.1", "LOCALHOST"))
    alert()
    assert [posted[0] for posted in hook.posted] == ["/hook"], models.Alert.objects.get(run=run).error


@pytest.mark.parametrize(
    ("address", "forbidden"),
    [
        ("169.254.169.254", True),
        ("fe80::1%lo", True),
        ("::", True),
        ("224.0.0.1", True),
        ("0.0.0.1", True),
        ("64:ff9b::a9fe:a9fe", True),
        ("2002:7f00:1::", True),
        ("::127.0.0.1", True),
        ("fd00:ec2::254", True),
        ("fd20:ce::254", True),
        ("100.100.100.200", True),
        ("168.63.129.16", True),
        ("::ffff:168.63.129.16", True),
        ("64:ff9b:1::192.0.2.1", True),
        ("::ffff:0:127.0.0.1", True),
        ("::ffff:0:192.0.2.1", True),
        ("64:ff9b::c000:201", False),
        ("10.0.0.5", False),
        ("192.0.2.1", False),
        ("2001:db8::1", False),
    ],
)
def test_which_addresses_a_webhook_may_reach(address: str, forbidden: bool) -> None:
    assert is_forbidden(address) is forbidden


def test_without_a_mail_server_the_setting_is_named(settings: Any) -> None:
    settings.EMAIL_HOST = ""
    run = worse("email", "ada@example.org")
    alert()
    assert "TEITEN_EMAIL_URL: No mail server is set." in models.Alert.objects.get(run=run).error


def test_one_target_in_vain_does_not_keep_another_from_being_told(mailbox: Mailbox, hook: Hook) -> None:
    plan = histories.nightly(replicates=5)
    hook.status = 500
    alerts.watch(plan, "webhook", hook.url, user=None, actor="tests")
    alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    histories.months(plan, [8000, 7200])
    alert()
    assert len(mailbox.letters) == 1
    assert sorted(models.Alert.objects.exclude(state="quiet").values_list("state", flat=True)) == ["due", "sent"]
