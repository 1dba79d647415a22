"""What nobody would send by mistake: the API says what is wrong with it, and costs nothing by it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models
from results.domain.document_limits import MOST_DEPTH
from tests import factories
from tests.webapp.api.conftest import Visitor, endpoints

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kept_world")]
BY_NUMBER = ("runs/?", "trials/?", "measurements/?", "annotations/?", "trials/?ordering=state_at&")
LISTS = ("agents/", "plans/", "runs/", "trials/", "measurements/", "annotations/")
HUGE = "9" * 5000
CURSORS = {
    "NUL": b64encode(b"p=\0").decode(),
    "huge offset": b64encode(f"o={HUGE}&p=1".encode()).decode(),
    "negative offset": b64encode(b"o=-1").decode(),
    "reverse of 5000 digits": b64encode(f"r={HUGE}".encode()).decode(),
    "no Base64": "!!!",
    "half Base64": "cD0",
    "no ASCII": "é",
    "nothing": "",
}
NO_NUMBER = {
    "text": b64encode(b"p=x").decode(),
    "empty": b64encode(b"p=").decode(),
    "half a character": b64encode(b"p=%ED%A0%80").decode(),
    "number of 5000 digits": b64encode(f"p={HUGE}".encode()).decode(),
}
NO_ID = b64encode(f"p={2**63}".encode()).decode()
JSON = "application/json"


@pytest.mark.parametrize("cursor", CURSORS)
@pytest.mark.parametrize("path", LISTS)
def test_every_list_answers_404_to_a_cursor_that_no_page_gave(path: str, cursor: str, world: Any) -> None:
    answer = APIClient().get(f"/api/v1/{path}", {"cursor": CURSORS[cursor]})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not-found")


@pytest.mark.parametrize("cursor", NO_NUMBER)
@pytest.mark.parametrize("path", BY_NUMBER)
def test_a_cursor_whose_position_is_no_value_of_the_column_is_not_found(path: str, cursor: str, world: Any) -> None:
    answer = APIClient().get(f"/api/v1/{path}cursor={NO_NUMBER[cursor]}")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not-found")


@pytest.mark.parametrize("path", ["runs/", "trials/", "measurements/", "annotations/"])
def test_no_page_begins_behind_the_last_number_that_an_id_can_have(path: str, world: Any) -> None:
    assert APIClient().get(f"/api/v1/{path}?cursor={NO_ID}").status_code == 404


def test_a_moment_without_its_zone_is_no_position(world: Any) -> None:
    text = b64encode(b"p=2026-01-31").decode()
    assert APIClient().get(f"/api/v1/trials/?ordering=state_at&cursor={text}").status_code == 404


def test_the_tokens_answer_404_too(visitor: Visitor) -> None:
    assert visitor("read").get("/api/v1/tokens/?cursor=cD0A").status_code == 404


@pytest.mark.parametrize("path", ["agents/", "runs/", "trials/?ordering=-state_at&", "measurements/?ordering=value&"])
def test_cursors_of_pages_are_found(path: str, world: Any, anonymous: APIClient) -> None:
    for number in range(3):
        factories.agent(f"other{number}")
    factories.run()
    url, ids = f"/api/v1/{path}{'' if '?' in path else '?'}page_size=1", []
    for _ in range(3):
        answer = anonymous.get(url).json()
        ids += [row.get("id", row.get("name")) for row in answer["results"]]
        url = answer["next"]
        if not url:
            break
    assert len(ids) == len(set(ids)) > 1


def test_every_endpoint_answers_to_options(world: Any, visitor: Visitor) -> None:
    client = visitor("admin")
    for route in endpoints():
        path = re.sub(r"<(\w+):(\w+)>", lambda part: "1" if part[1] == "int" else "db1", route)
        status = client.options(f"/api/v1/{path}").status_code
        assert status == (405 if route in ("schema/", "docs/") else 200), route


@pytest.mark.parametrize("size", ["9" * 25, "-1", "0", "NaN", "1e400", "\0", "9" * 5000])
@pytest.mark.parametrize(
    "query",
    [
        "measurements/?run={}",
        "measurements/?trial={}",
        "measurements/?run=1,{}&filter.clients=1",
        "trials/?run={}",
        "trials/?configuration={}",
        "trials/?block={}",
        "runs/?plan_id={}",
        "runs/?page_size={}",
        "comparison/?run={}",
        "comparison/changes/?run={}",
        "comparison/why/?run={}",
        "flame/?a={0}&b={0}",
        "flame/?a=configuration:{0}&b=trial:{0}",
        "diff/?left=trial:{0}&right=run:{0}",
        "trends/?plan={}",
        "versions/?plan={}",
        "versions/?since={}",
        "runs/?until={}",
        "trials/1/?attempt={}",
        "comparison.csv?run=1&figure={}",
        "noise/?run={}",
    ],
)
def test_no_number_of_an_address_is_too_much(query: str, size: str, world: Any, anonymous: APIClient) -> None:
    assert anonymous.get(f"/api/v1/{query.format(size)}").status_code in (200, 400, 404, 422)


@pytest.mark.parametrize("path", ["runs/{}/", "trials/{}/", "plans/{}/", "plans/{}.toml", "annotations/{}/"])
def test_a_number_that_no_id_can_have_is_not_found(path: str, anonymous: APIClient) -> None:
    for number in (0, 2**63, 10**25, HUGE[:1000]):
        assert anonymous.get(f"/api/v1/{path.format(number)}").status_code == 404
        assert anonymous.get(f"/api/v1/reports/{number}/{number}/").status_code == 404


@pytest.mark.parametrize("text", ["null", "0", "00", "-1", "1.5", "1e3", "ten", "\u0661"])
def test_a_page_size_that_is_no_number_of_rows_is_said(text: str, world: Any, anonymous: APIClient) -> None:
    answer = anonymous.get("/api/v1/runs/", {"page_size": text})
    assert (answer.status_code, answer.json()["error"]["where"]) == (400, "page_size")
    for size in ("", "1", "1001", "9" * 20):
        assert anonymous.get(f"/api/v1/runs/?page_size={size}").status_code == 200


@pytest.mark.parametrize("path", ["installations/?present=", "plans/?archived="])
def test_what_is_neither_true_nor_false_is_said(path: str, world: Any, anonymous: APIClient) -> None:
    counts = [anonymous.get(f"/api/v1/{path}{text}").json()["results"] for text in ("true", "True", "false", "")]
    assert counts[0] == counts[1]
    assert sorted(map(str, counts[0] + counts[2])) == sorted(map(str, counts[3]))
    answer = anonymous.get(f"/api/v1/{path}null")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "invalid")


@pytest.mark.parametrize("date", ["9999-12-31", "0001-01-01", "10000-01-01", "2026-02-30", "0000-00-00"])
@pytest.mark.parametrize("path", ["runs/", "versions/", "trends/"])
def test_dates_far_away_are_no_error_of_the_server(path: str, date: str, world: Any, anonymous: APIClient) -> None:
    for name in ("since", "until"):
        assert anonymous.get(f"/api/v1/{path}?{name}={date}").status_code in (200, 400)


BODIES = {
    "not a number": '{"name": NaN}',
    "infinity": '{"name": -Infinity}',
    "beyond a double": '{"name": 1e309}',
    "5000 digits": f'{{"name": {HUGE}}}',
    "half a character": r'{"name": "\ud800"}',
    "half a character in a name": r'{"\udfff": 1}',
    "bytes that are no UTF-8": b'{"name": "\xed\xa0\x80"}',
    "NUL": r'{"name": "a\u0000"}',
    "NUL in a name": r'{"a\u0000": 1}',
    "deep lists": "[" * (MOST_DEPTH + 2) + "1" + "]" * (MOST_DEPTH + 2),
    "deeper lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "many values": "[" + "0," * 200_000 + "0]",
}
WRITING = (
    ("post", "agents/"),
    ("patch", "agents/db1/"),
    ("post", "agents/db1/accept-host-key/"),
    ("post", "agents/db1/remove-clusters/"),
    ("post", "agents/db1/host-factors/"),
    ("put", "agents/db1/host-factors/cpu_governor/"),
    ("post", "plans/"),
    ("put", "plans/{plan}/"),
    ("post", "plans/preview/"),
    ("post", "ready-plans/own-queries/plan/"),
    ("post", "runs/"),
    ("patch", "runs/{run}/"),
    ("post", "annotations/"),
    ("post", "citations/"),
    ("post", "references/"),
)


@pytest.mark.parametrize("name", BODIES)
def test_json_that_cannot_be_stored_or_followed_is_refused_everywhere(name: str, world: Any, visitor: Visitor) -> None:
    client, body = visitor("admin"), BODIES[name]
    for method, path in WRITING:
        answer = client.generic(method.upper(), f"/api/v1/{path.format(**world)}", body, content_type=JSON)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "api"), path
    assert models.Plan.objects.count() == 1


def test_the_refusal_says_what_is_wrong(world: Any, visitor: Visitor) -> None:
    client = visitor("admin")
    said = {}
    for name in ("NUL", "deep lists", "many values"):
        answer = client.generic("POST", "/api/v1/plans/", BODIES[name], content_type=JSON)
        said[name] = answer.json()["error"]["what"]
    assert said == {
        "NUL": "A NUL character (\\u0000), or half of a surrogate pair, is in a text or name of it.",
        "deep lists": "Its lists or tables are nested too deeply: at most 32 in each other are read.",
        "many values": "It has more than 100000 names and values.",
    }


@pytest.mark.parametrize("jump", ["a\0", 1, ["db1"], {"a": 1}, "x" * 10_000, "\u202e", True])
def test_a_jump_host_that_is_none_is_said(jump: Any, world: Any, visitor: Visitor) -> None:
    answer = visitor("admin").patch("/api/v1/agents/db1/", {"jump": jump}, format="json")
    assert answer.status_code == 400
    assert models.Agent.objects.get().jump is None


DOTTED = "a." * 20_000 + "a = 1"


@pytest.mark.parametrize("text", [DOTTED, "x = " + "[" * 20_000, f"x = {HUGE}", "x = [nan, inf]", "#" * 1_500_000])
def test_toml_is_bounded_before_it_is_read(text: str, world: Any, visitor: Visitor) -> None:
    client = visitor("admin")
    for method, path in (("post", "plans/"), ("post", "plans/preview/"), ("put", f"plans/{world['plan']}/")):
        assert getattr(client, method)(f"/api/v1/{path}", {"toml": text}, format="json").status_code == 422
    factors = client.post("/api/v1/agents/db1/host-factors/", {"toml": text}, format="json")
    assert (factors.status_code, factors.json()["error"]["kind"]) == (422, "definition")


@pytest.mark.parametrize("value", [10**18, -1, 10**300, 1e300, "", None, [], {}, True])
def test_a_value_of_a_plan_far_from_any_other_is_one_of_its_problems(value: Any, world: Any, visitor: Visitor) -> None:
    client = visitor("admin")
    names = ("replicates", "seed", "patience", "duration_s", "initdb", "agents", "parameters", "settings", "factors")
    for name in names:
        answer = client.post("/api/v1/plans/preview/", factories.mapping(**{name: value}), format="json")
        assert answer.status_code in (200, 422), name


@pytest.mark.parametrize("path", ["agents/%ED%A0%80/", "agents/%00/", "imports/%ED%A0%80/", "runs/%0A/", "%0A"])
def test_an_address_that_is_no_text_is_answered_in_the_apis_shape(path: str, anonymous: APIClient) -> None:
    answer = anonymous.get(f"/api/v1/{path}")
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]["what"]


@pytest.mark.parametrize("charset", ["utf-7", "utf-16", "nothing"])
def test_no_encoding_brings_a_nul_byte_in(charset: str, anonymous: APIClient) -> None:
    content_type = f"text/plain; charset={charset}"
    for text in ("%2BAAA-", "%2B2AA-", "%00"):
        answer = anonymous.get(f"/api/v1/plans/?workload={text}", CONTENT_TYPE=content_type)
        assert answer.status_code in (200, 400), text


def test_a_form_of_thousands_of_fields_is_answered_in_the_apis_shape(visitor: Visitor) -> None:
    fields = {f"levels.{number}": "a=1" for number in range(1001)}
    answer = visitor("run").post("/api/v1/imports/", fields, format="multipart")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "api")
    assert json.dumps(answer.json())
