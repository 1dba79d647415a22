"""What has the shape of a secret is replaced, wherever it stands, and nothing else is."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path

import pytest

from results.domain.errors import CommandError, ParseError, PlanError, Problem
from results.domain.secrets import (
    HIDDEN,
    masked,
    masked_bytes,
    masked_end,
    masked_pieces,
    masked_plan,
    masked_spec,
    masked_text,
    masked_toml,
    masked_values,
)

DATA = Path(__file__).parents[2] / "data"
CANARY = "s3cr-et.Ünd"
SENTENCES = [
    "host=db1 port=5432 user=u password={} dbname=x",
    "host=db1 password='{}' dbname=x",
    "host=db1 password='a {}\\' b' dbname=x",
    "password = {}",
    "primary_conninfo = 'host=db1 password={} port=1'",
    "primary_conninfo = 'host=db1 password=''{} b'' port=1'",
    "primary_conninfo = 'host=db1 password=\\'a {}\\' port=1'",
    "psql 'host=db1 password='\"'\"'a {}'\"'\"' port=1'",
    "postgresql://u:{}@db1:5432/x?sslmode=require",
    "postgresql://u@db1/x?password={}&sslmode=require",
    "PGPASSWORD={} psql -h db1",
    "PGPASSWORD='{}' psql -h db1",
    "curl --password={} https://db1/",
    "curl -H 'Authorization: Bearer {}x' https://db1/",
    "CREATE ROLE r LOGIN PASSWORD '{}';",
    "create role r encrypted password E'{}' login",
    "ALTER ROLE r PASSWORD $a$ {} $a$;",
    "DO $$ BEGIN EXECUTE 'ALTER ROLE r PASSWORD ''{}'''; END $$",
    "CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', password '{}');",
    "CREATE SUBSCRIPTION s CONNECTION 'host=db1 password={}' PUBLICATION p",
    '{{"host": "db1", "password": "{}"}}',
    '{{"conninfo": "host=db1 password=\\"a {}\\" x"}}',
    "host=db1 sslpassword={}",
    "ssl_passphrase = '{}",
    "host=db1 password=${}",
    "host=db1 password=%{}",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_secret_is_gone_and_the_rest_stays(sentence: str) -> None:
    text = f"before {sentence.format(CANARY.encode('ascii', 'ignore').decode())} \nafter"
    hidden = masked_text(text)
    assert "s3cr" not in hidden
    assert HIDDEN in hidden
    assert hidden.startswith("before ")
    assert hidden.endswith("after")
    for kept in ("host=db1", "db1:5432", "port=1", "sslmode=require", "dbname=x", "PUBLICATION p", "psql -h db1"):
        assert (kept in hidden) == (kept in text)
    assert masked_text(hidden) == hidden


@pytest.mark.parametrize(
    "secret",
    [
        "SCRAM-SHA-256$4096:wJrBsEPUsSOnkCYd4nLG6A==$7p/8lLpqCDZ4o2/2hFDzMg1W0CKUJRqDkTlsjwHhZWE=:QdaT0k+rSOk/x1=",
        "md5a3556571e93b0d20722ba62be61e8c2d",
        f"teiten_{'a' * 43}",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nb3BlbnNzaC1rZXk",
    ],
)
def test_verifiers_tokens_and_private_keys_are_known_by_their_shape(secret: str) -> None:
    assert masked_text(f"before '{secret}") == f"before '{HIDDEN}"


@pytest.mark.parametrize(
    "text",
    [
        "password_encryption = 'scram-sha-256'",
        "PGPASSFILE=/srv/jobs/1-1/pgpass-primary psql",
        "host=db1 passfile='/srv/data/16/password-of-primary'",
        'FATAL:  password authentication failed for user "bench"',
        "ALTER ROLE CURRENT_USER PASSWORD :'password';",
        "SELECT * FROM users WHERE password = $1 AND id = $2",
        "SELECT format('host=nowhere password=%s port=1', :'secret') AS conninfo",
        "SELECT format('postgresql://u:%s@nowhere/x', :'secret') AS address",
        "PGPASSWORD=$PW psql; PGPASSWORD=${DB_PW} psql; PGPASSWORD=$(cat file) psql",
        'PGPASSWORD="$PW" psql; PGPASSWORD="$(cat "$HOME/x")" psql; PGPASSWORD=`cat ~/x` psql',
        "\\set conninfo 'host=nowhere password=' :secret",
        "\\set conninfo 'host=nowhere password=':secret' port=1'",
        "setting ssl_passphrase_command|string||sighup|||",
        "SELECT 'host=nowhere password=' || secret FROM secrets",
        "PWD=/home/bench",
        "http://db1:8000/runs/1/?a=b@c",
        "tps = 1000.0 (without initial connection time)",
        "host all all 10.0.0.1/32 md5",
        "cat /etc/passwd",
        "",
    ],
)
def test_what_only_speaks_of_passwords_stays(text: str) -> None:
    assert masked_text(text) == text


def test_a_name_can_say_what_its_value_is() -> None:
    assert masked("ssl_passphrase_command", "echo abc") == HIDDEN
    assert masked("some.password", "abc") == HIDDEN
    assert masked("some.password", "") == ""
    assert masked("password_encryption", "md5") == "md5"
    assert masked("primary_conninfo", "host=a password=b port=1") == f"host=a password={HIDDEN} port=1"


def test_values_keep_their_shape() -> None:
    assert masked_values({"argv": ["--password", "x", "-h", "a"]}) == {"argv": ["--password", HIDDEN, "-h", "a"]}
    value = {"password": "a", "n": 1, "list": ["password=b", None, 1.5, True], "deep": {"x": ("PGPASSWORD=c",)}}
    hidden = f"password={HIDDEN}"
    expected = {"password": HIDDEN, "n": 1, "list": [hidden, None, 1.5, True], "deep": {"x": (f"PG{hidden.upper()}",)}}
    assert masked_values(value) == expected | {"deep": {"x": (f"PGPASSWORD={HIDDEN}",)}}


def test_files_that_are_no_text_stay_to_the_last_byte() -> None:
    assert masked_bytes(b"\x7fELF\0password=abc") == b"\x7fELF\0password=abc"
    assert masked_bytes(b"\xff\xfe password=abc \xc3\xa4") == b"\xff\xfe password=(hidden) \xc3\xa4"


BEGINNINGS = [
    *("password", "password='", "://a", "password=\\'", "a", "' '", "-----BEGIN PRIVATE KEY-----"),
    *("password = (", "password)=(", "password: ", "- password: x\n", "password \n", "create role password 'a' "),
    *("host = 'a' password = b /* ", "{password:", '["password=", {'),
    *("password /* ", "password -- ", "-- password\n", "password=$((", "password=`", "'password=' || "),
    *("password=\\ ", 'password=a"b"', 'password=a"', "--password x ", '"--password","', "export password=a "),
    *("passphrase_command: ", 'passphrase_command="""', "passphrase_command = [", '"secret": "', "secret = '"),
]


@pytest.mark.parametrize("piece", BEGINNINGS)
def test_many_beginnings_are_read_once(piece: str) -> None:
    """An expression that went back for each of them would not end in a day."""
    many = piece * (1_000_000 // len(piece))
    assert masked_text(many) and masked_toml(many) and masked_plan(many, in_shell=True)


@pytest.mark.parametrize("piece", BEGINNINGS)
def test_what_is_masked_stays_as_it_is(piece: str) -> None:
    many = piece * (10_000 // len(piece))
    once = masked_text(many)
    assert masked_text(once) == once
    plan = masked_toml(many)
    assert masked_toml(plan) == plan
    script = masked_plan(many, in_shell=True)
    assert masked_plan(script, in_shell=True) == script
    assert masked_bytes(masked_bytes(once.encode())) == masked_bytes(once.encode())


@pytest.mark.parametrize("limit", range(1, 30))
def test_the_end_of_an_output_is_cut_after_it_is_hidden(limit: int) -> None:
    """Cut before, it began with WORD 'canary'."""
    text = "x" * 600 + "ALTER ROLE r PASSWORD 'canary'\n"
    assert "ary" not in masked_end(text, limit)
    output = "x" * 600 + "PASSWORD 'canary" + "y" * (600 - limit) + "'"
    error = CommandError("It failed.", command="psql", exit_status=1, stderr=output)
    assert "yyy" not in str(error) + str(error.as_dict())
    damage = ParseError("It is damaged.", file="a", text="x" * (200 - limit) + "postgresql://u:canary@db/x")
    assert "cana" not in str(damage)


def test_letters_that_change_their_length_hide_nothing_less() -> None:
    assert masked_text("İ host=a password=abc İ") == f"İ host=a password={HIDDEN} İ"
    assert masked_text("ß host=a PASSWORD=abc ß") == f"ß host=a PASSWORD={HIDDEN} ß"


def test_an_error_says_no_secret_as_text_nor_as_json() -> None:
    texts = dict.fromkeys(("stdout", "stderr", "command"), "PGPASSWORD=abc psql")
    error = CommandError("host=a password=abc is no answer.", exit_status=1, **texts)
    for said in (str(error), str(error.as_dict()), str(PlanError([Problem("x", "password=abc")]).as_dict())):
        assert "abc" not in said
        assert HIDDEN in said


@pytest.mark.parametrize("piece_bytes", [1, 7, 64, 10_000])
def test_a_long_file_is_hidden_as_a_short_one_is_wherever_it_is_cut(piece_bytes: int) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----"
    text = "\n".join(["LOG: ready", "password=canary1", key, "tps = 17.5", "postgresql://me:canary2@db/x", "end"])
    content = text.encode()
    pieces = b"".join(masked_pieces(io.BytesIO(content), piece_bytes))
    assert pieces.count(b"canary") == 0
    assert b"tps = 17.5" in pieces and pieces.endswith(b"end")
    if piece_bytes > 2 * len(key):
        assert pieces == masked_bytes(content)


@pytest.mark.parametrize("shift", [*range(0, 40, 3), 8_000])
@pytest.mark.parametrize(
    "secret",
    [
        " PGPASSWORD=canary ",
        " --password canary ",
        ", 'PASSWORD' , PASSWORD /* c */ 'a canary', ",
        '"api_secret": "canary", ',
        "postgresql://u:canary@db/x ",
    ],
)
def test_a_line_longer_than_a_piece_is_cut_between_secrets(secret: str, shift: int) -> None:
    """Where it was cut anywhere, a password stood without its name in the next piece."""
    piece_bytes = 100_000
    reach = piece_bytes + 1024**2
    content = b"z" * (reach - 8192 - shift) + secret.encode() + b" 17.5 " + b"z" * (3 * reach)
    content += secret.encode() + b"z" * 9000 + secret.encode() + b"end\n"
    pieces = list(masked_pieces(io.BytesIO(content), piece_bytes))
    assert len(pieces) > 3
    whole = b"".join(pieces)
    assert whole.count(b"canary") == 0
    assert whole.count(b"(hidden)") == 3
    assert b" 17.5 " in whole and whole.endswith(b"end\n")


def test_a_json_file_of_one_line_that_is_longer_than_a_piece_keeps_its_numbers() -> None:
    rows = [{"n": place, "ms": place / 8, "api_secret": "canary", "text": 'a "b" c'} for place in range(30_000)]
    content = json.dumps(rows).encode()
    whole = b"".join(masked_pieces(io.BytesIO(content), 1000))
    assert len(content) > 2 * 1024**2
    assert json.loads(whole) == [row | {"api_secret": HIDDEN} for row in rows]


def test_a_binary_file_stays_as_it_is() -> None:
    content = b"\0password=x\n" * 10
    assert b"".join(masked_pieces(io.BytesIO(content), 20)) == content


def test_no_byte_of_the_recorded_samples_changes() -> None:
    """None of them holds a secret: so no figure of what programs print is taken for one."""
    files = [file for file in sorted(DATA.rglob("*")) if file.is_file()]
    assert len(files) > 100
    assert [file for file in files if masked_bytes(file.read_bytes()) != file.read_bytes()] == []


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("password = E'x y', n = 1", "password = (hidden), n = 1"),
        ("password = U&'x', n = 1", "password = (hidden), n = 1"),
        ("password = N'x', n = 1", "password = (hidden), n = 1"),
        ("password = crypt('x', gen_salt('bf'))", "password = crypt((hidden), gen_salt('bf'))"),
        ("password = ('x')", "password = ((hidden))"),
        ("password = a.b ( E'x')", "password = a.b ( (hidden))"),
        ("password = $$x y$$, n", "password = (hidden), n"),
        ("password := 'x'", "password := (hidden)"),
        ("host=a password=hun;ter2 port=1", "host=a password=(hidden) port=1"),
        ("PGPASSWORD=hun,ter2 psql", "PGPASSWORD=(hidden) psql"),
        ("postgresql://u:p@ss@h/x", "postgresql://u:(hidden)@h/x"),
        ("ERROR: Key (password)=(x y) already exists.", "ERROR: Key (password)=((hidden)) already exists."),
        ("Key (name, password)=(a, x)", "Key (name, password)=((hidden))"),
        ("tool --password x db", "tool --password (hidden) db"),
        ("tool --password=x db", "tool --password=(hidden) db"),
        ("db:\n  password: x\n  port: 1", "db:\n  password: (hidden)\n  port: 1"),
        ('{\n "password": "x",\n', '{\n "password": "(hidden)",\n'),
        ('{"password":"x"}', '{"password":"(hidden)"}'),
        ("password =\n  'x'\n1", "password =\n  (hidden)\n1"),
        (r"host=a password=x\ y port=1", "host=a password=(hidden) port=1"),
        (r"PGPASSWORD=x\ y psql", "PGPASSWORD=(hidden) psql"),
        ('PGPASSWORD=x"y z"x psql', "PGPASSWORD=(hidden) psql"),
        ("PGPASSWORD='x y'x\"y z\" psql", "PGPASSWORD=(hidden) psql"),
        ('tool --password x"y z"x db', "tool --password (hidden) db"),
        ("PGPASSWORD=$(cat a)x psql", "PGPASSWORD=(hidden) psql"),
        ('psql "host=a password=x" "SELECT 5"', 'psql "host=a password=(hidden)" "SELECT 5"'),
        ("OPTIONS (\"user\" 'a', \"password\" 'x')", 'OPTIONS ("user" \'a\', "password" (hidden))'),
        ("ROLE r PASSWORD /* c */ 'x' 1", "ROLE r PASSWORD /* c */ (hidden) 1"),
        ("ROLE r PASSWORD -- c\n'x' 1", "ROLE r PASSWORD -- c\n(hidden) 1"),
        ("SET password /* c */ = 'x', n = 1", "SET password /* c */ = (hidden), n = 1"),
        ("ssl_passphrase_command = 'echo x'\nn = 1", "ssl_passphrase_command = '(hidden)'\nn = 1"),
        ("-c ssl_passphrase_command=x -p 1", "-c ssl_passphrase_command=(hidden) -p 1"),
        (
            'parameter "ssl_passphrase_command" changed to "echo x"',
            'parameter "ssl_passphrase_command" changed to "(hidden)"',
        ),
        ("client_secret = 'x'", "client_secret = (hidden)"),
        ('["--password","x y", "1"]', '["--password","(hidden)", "1"]'),
        ('["--password", "x\\"y", 1.50]', '["--password", "(hidden)", 1.50]'),
        ("['--db-password', 'x', 1]", "['--db-password', '(hidden)', 1]"),
        ('"api_secret":"x y","n":1.50', '"api_secret":"(hidden)","n":1.50'),
        ("password=':x' n", "password=(hidden) n"),
        ("password='|| x' n", "password=(hidden) n"),
        ("PGPASSWORD=$PWx-y psql", "PGPASSWORD=(hidden) psql"),
        ('PGPASSWORD="$PW"x psql', "PGPASSWORD=(hidden) psql"),
        ("PGPASSWORD=$pw psql", "PGPASSWORD=(hidden) psql"),
    ],
)
def test_what_is_hidden_ends_where_the_secret_does(text: str, hidden: str) -> None:
    assert masked_text(text) == hidden
    assert masked_text(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE u SET password =\n   0.456 0 SELECT 1",
        "Bearer\n17.5",
        "the password: it is wrong",
        "psql --password -h db1",
        "see http://db1:8000/a and b@c",
    ],
)
def test_a_figure_beside_the_word_stays(text: str) -> None:
    assert masked_text(text) == text


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        (r'{"query": "WHERE u.password = p.\"Pw\" AND n = 1", "ms": 1.50}', None),
        ('{"password":"x", "n":12345678901234567890.10}', '{"password":"(hidden)", "n":12345678901234567890.10}'),
        ('{"a": "password = \'abc", "n": 1e400}', '{"a": "password = (hidden)", "n": 1e400}'),
        ('  [{"c": "host=a password=x port=1", "d": "ä"}]', '  [{"c": "host=a password=(hidden) port=1", "d": "ä"}]'),
        ('{"client_secret": "x", "ms": 2.50}', '{"client_secret": "(hidden)", "ms": 2.50}'),
        ('{"argv": ["--password","x y", "n"], "ms": 1.50}', '{"argv": ["--password","(hidden)", "n"], "ms": 1.50}'),
        ('{"argv": ["--password", "\\"x"], "ms": 1.50}', '{"argv": ["--password", "(hidden)"], "ms": 1.50}'),
        ('{"password": null, "passwords": ["b"], "n": 1}', '{"password": null, "passwords": ["b"], "n": 1}'),
        ('{"ms": 1.50, "n": NaN}', '{"ms": 1.50, "n": NaN}'),
    ],
)
def test_json_stays_json_with_the_same_numbers(line: str, hidden: str | None) -> None:
    """Whole files and single lines between others, in one piece or in many."""
    for content in (line, f"password=abc\n{line}\nend\n{line}\n"):
        parts = masked_bytes(content.encode()).decode()
        assert [json.loads(one) for one in parts.splitlines() if one.lstrip()[:1] in ("{", "[")]
        assert "abc" not in parts
        if hidden:
            assert parts == content.replace(line, hidden).replace("=abc", "=(hidden)")
        assert b"".join(masked_pieces(io.BytesIO(content.encode()), 8)).decode() == parts


def test_json_over_several_lines_and_of_bytes_that_are_no_text() -> None:
    pretty = json.dumps({"query": 'SET password = "abc" x', "n": [1.5, 2]}, indent=1).encode()
    assert json.loads(masked_bytes(pretty)) == {"query": f"SET password = {HIDDEN} x", "n": [1.5, 2]}
    assert json.loads(masked_bytes(b'{"a": "\xff", "password": "x"}').decode("utf-8")) == {"a": "�", "password": HIDDEN}
    deep = b"[" * 100_000 + b" password=abc"
    assert b"abc" not in masked_bytes(deep)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM u WHERE password = :pw",
        "SELECT * FROM u WHERE password=:pw AND n = 1",
        "SELECT 1 FROM u JOIN p ON u.password = p.password",
        'UPDATE u SET n = 1, "password" = p.old',
        "UPDATE u SET password = md5(:x)",
        "UPDATE u SET host = 'a', password=md5(:x)",
        "-- the password 'policy'\nCREATE ROLE r; -- its password 'policy'",
        "CREATE TABLE u (password_hash text, password text DEFAULT '')",
        "CREATE ROLE r /* password 'policy' */ LOGIN",
        "ALTER ROLE r PASSWORD :'pw'; ALTER ROLE r PASSWORD NULL; SELECT format('ALTER ROLE r PASSWORD %L', :'x')",
        "SELECT 'host=nowhere password=' || secret FROM secrets",
        "PGPASSWORD=$PW psql; PGPASSWORD=$(cat file) psql",
        'PGPASSWORD="$(cat ~/x)" psql; PGPASSWORD="$(cat "$HOME/x")" psql; PGPASSWORD=`cat ~/x` psql',
        'PGPASSWORD="$pw" psql; PGPASSWORD=$pw psql; PGPASSWORD=${pw} psql; PGPASSWORD="${pw}" psql',
        'export password="$(cat x)"; export password=$1; curl --password "$pw" a; curl --password $pw a',
        "psql postgresql://u:$pw@h/x 'host=a password=:pw'",
        "psql --password db; pg_dump --password -h a",
        "CREATE ROLE r; --password of it",
        "UPDATE u SET\n  password=p.old,\n  db_password=p.other",
        "password := old_password;",
        "The bearer of it; the password: it is old.",
    ],
)
def test_a_plan_may_name_a_password(text: str) -> None:
    assert masked_plan(text) == text


@pytest.mark.parametrize("sentence", [one for one in SENTENCES if "ssl_passphrase = '" not in one])
def test_a_plan_may_hold_none(sentence: str) -> None:
    text = sentence.format("s3cr-et.ndKanari0aaaa")
    if text.startswith("password = "):
        text = f"host=db1 {text}"
    assert "s3cr" not in masked_plan(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM u WHERE password = 'abc'",
        "UPDATE u SET password = crypt('abc', gen_salt('bf'))",
        "password := 'abc'",
        "CREATE USER u -- a note\n PASSWORD 'abc'",
        "password=abc",
        "md5a3556571e93b0d20722ba62be61abc2d",
        "password=':abc'",
        "host=a password='|| abc'",
        'PGPASSWORD="$pw"abc psql',
        "PGPASSWORD=$pw-abc psql",
        "PGPASSWORD=${pw:-abc} psql",
        "export password=abc",
        "curl --password abc",
        "curl --password 'abc'",
        "CREATE ROLE r PASSWORD /* c */ 'abc'",
        "CREATE ROLE r PASSWORD -- c\n'abc'",
        "OPTIONS (\"password\" 'abc')",
    ],
)
def test_a_plan_with_a_password_is_known(text: str) -> None:
    assert "abc" not in masked_plan(text)


@pytest.mark.parametrize(
    "script",
    [
        "db_password=abc",
        "set -e\n  password=abc run",
        "if x; then password=abc; fi",
        "A=1 password=abc run",
        "--password abc",
    ],
)
def test_a_shell_script_with_a_password_is_known(script: str) -> None:
    assert "abc" not in masked_plan(script, in_shell=True)


@pytest.mark.parametrize(
    "script",
    [
        'password=$1; password=${pw}; password=$(cat x); password=`cat x`\npassword="$(cat x)"',
        "psql -c 'SELECT 1 FROM u, p WHERE u.password=p.password'",
        "psql <<SQL\nUPDATE u SET password = p.old, n = 1;\nSQL",
        "read -r password <x # the password is there",
    ],
)
def test_a_shell_script_may_name_a_password(script: str) -> None:
    assert masked_plan(script, in_shell=True) == script


@pytest.mark.parametrize(
    "value", ["'echo abc'", '"echo abc"', "'''echo abc'''", '["echo abc", "echo abcd"]', '"""echo \\"abc"""']
)
def test_a_plan_is_shown_as_toml_without_the_commands_of_its_settings(value: str) -> None:
    toml = f'[settings]\nssl_passphrase_command = {value}\nport = 1\n[parameters]\ntext = "x.password = :pw"\n'
    shown = masked_toml(toml)
    assert "abc" not in shown
    hidden = [HIDDEN] if value.startswith("[") else HIDDEN
    read = tomllib.loads(shown)
    assert read == tomllib.loads(toml) | {"settings": {"ssl_passphrase_command": hidden, "port": 1}}
    assert masked_toml(shown) == shown
    assert masked_plan(toml) == toml


def test_a_specification_masked_twice_is_as_masked_once() -> None:
    spec = {"settings": {"ssl_passphrase_command": "echo x"}, "parameters": {"text": "SELECT :password = password"}}
    once = masked_spec(spec)
    assert once["settings"] == {"ssl_passphrase_command": HIDDEN} and once["parameters"] == spec["parameters"]
    assert masked_spec(once) == once
