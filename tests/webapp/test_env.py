"""Settings from the environment: read as written, or refused with the variable's name and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain.errors import TeitenError
from webapp import env

KEY = "of fifty characters and more, at random as it should be"


def read(**values: str) -> env.Environment:
    return env.read({"TEITEN_SECRET_KEY": KEY} | values)


def test_without_settings_the_defaults_are_those_of_the_documents() -> None:
    settings = read()
    assert settings.database_url == "postgresql://teiten@127.0.0.1:5432/teiten"
    assert settings.redis_url == "redis://127.0.0.1:6379/0"
    assert settings.allowed_hosts == ("127.0.0.1", "localhost")
    assert settings.bundle_dir == Path(".teiten/bundles").resolve()
    assert (settings.debug, settings.open_reading, settings.https, settings.log_level) == (False, False, False, "INFO")


def test_a_secret_key_is_taken_as_it_is_whatever_it_begins_with() -> None:
    key = f"${KEY}"
    assert read(TEITEN_SECRET_KEY=key).secret_key == key


def test_a_short_secret_key_is_refused() -> None:
    with pytest.raises(TeitenError) as raised:
        read(TEITEN_SECRET_KEY=KEY[:49])
    assert "TEITEN_SECRET_KEY: The secret key has 49 characters." in str(raised.value)
    assert read(TEITEN_SECRET_KEY=KEY[:49], TEITEN_DEBUG="1").secret_key == KEY[:49]


def test_lists_are_split_at_commas_and_blanks_around_them_are_dropped() -> None:
    assert read(TEITEN_ALLOWED_HOSTS=" a.example , b.example,").allowed_hosts == ("a.example", "b.example")


@pytest.mark.parametrize(("text", "flag"), [("1", True), ("Yes", True), ("on", True), ("false", False), ("", False)])
def test_a_flag_is_yes_or_no_in_several_ways(text: str, flag: bool) -> None:
    assert read(TEITEN_HTTPS=text).https is flag


def test_a_flag_that_is_misspelt_is_refused_and_not_taken_for_no() -> None:
    with pytest.raises(TeitenError) as raised:
        read(TEITEN_HTTPS="treu")
    assert str(raised.value) == "TEITEN_HTTPS: 'treu' is not yes or no. Set it to 1 or 0."


def test_logs_are_text_or_json() -> None:
    assert read().log_format == "text"
    assert read(TEITEN_LOG_FORMAT="json").log_format == "json"
    with pytest.raises(TeitenError) as raised:
        read(TEITEN_LOG_FORMAT="xml")
    assert str(raised.value) == "TEITEN_LOG_FORMAT: 'xml' is not a form of messages. Set it to text or json."


def test_an_unknown_log_level_is_refused() -> None:
    with pytest.raises(TeitenError) as raised:
        read(TEITEN_LOG_LEVEL="verbose")
    assert str(raised.value).startswith("TEITEN_LOG_LEVEL: 'verbose' is not a level of messages. Set it to DEBUG,")


def test_a_database_url_becomes_djangos_entry_with_a_connection_that_notices_a_dead_server() -> None:
    entry = env.database("postgresql://me:p%40ss@db.example:5433/house?sslmode=require&connect_timeout=3")
    assert (entry["NAME"], entry["USER"], entry["PASSWORD"]) == ("house", "me", "p@ss")
    assert (entry["HOST"], entry["PORT"]) == ("db.example", "5433")
    assert entry["OPTIONS"] == {
        "connect_timeout": "3",
        "keepalives_idle": 5,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15000,
        "sslmode": "require",
    }


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("mysql://db/house", ""),
        ("postgresql://db", ""),
        ("house", ""),
        ("postgresql://db:99999/house", "Port out of range 0-65535. "),
        ("postgresql://db:five/house", "Port could not be cast to integer value as 'five'. "),
        ("postgresql://[::1/house", "Invalid IPv6 URL. "),
    ],
)
def test_a_url_of_no_postgresql_is_refused(url: str, why: str) -> None:
    with pytest.raises(TeitenError) as raised:
        env.database(url)
    form = "postgresql://user:$PASSWORD@host:port/name"
    todo = "Set it as docs/operations.md says."
    assert str(raised.value) == f"TEITEN_DATABASE_URL: The database URL is not {form}. {why}{todo}"


@pytest.mark.parametrize(
    ("url", "port", "starttls", "tls"),
    [
        ("smtp://mail.example", 25, False, False),
        ("smtp+tls://mail.example", 587, True, False),
        ("smtps://mail.example", 465, False, True),
        ("smtps://mail.example:1465", 1465, False, True),
    ],
)
def test_the_scheme_of_a_mail_server_says_how_it_is_encrypted(url: str, port: int, starttls: bool, tls: bool) -> None:
    mail = env.mail(url)
    assert (mail.host, mail.port, mail.starttls, mail.tls) == ("mail.example", port, starttls, tls)


def test_without_a_mail_server_there_is_none() -> None:
    assert env.mail("").host == ""


@pytest.mark.parametrize("url", ["mail.example", "imap://mail.example", "smtp://:25", "smtp://mail:x", "smtp://[::1"])
def test_a_url_of_no_mail_server_is_refused(url: str) -> None:
    with pytest.raises(TeitenError, match=r"The mail server's URL is not smtp://user:\$PASSWORD@host:port\."):
        env.mail(url)
