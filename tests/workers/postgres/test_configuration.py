import pytest

from results.domain.errors import TrialError
from workers.postgres.configuration import (
    access_line,
    configuration,
    host_based_access,
    quote_value,
    setting_problems,
)


def written(settings: dict[str, str]) -> list[str]:
    return configuration(settings, socket_dir="/run/x", listen="").splitlines()


def test_a_plans_settings_come_after_teitens_own():
    lines = written({"work_mem": "64MB", "log_checkpoints": "off"})
    assert "work_mem = '64MB'" in lines
    assert "log_checkpoints = 'off'" in lines
    assert "listen_addresses = ''" in lines


def test_the_servers_words_stay_english_whatever_the_locale_of_the_cluster():
    assert "lc_messages = 'C'" in written({})


@pytest.mark.parametrize(
    ("value", "quoted"), [("64MB", "'64MB'"), ("it's", "'it''s'"), ("a\\nb", "'a\\\\nb'"), ("$(id)", "'$(id)'")]
)
def test_values_are_quoted_for_the_configuration_file(value: str, quoted: str):
    assert quote_value(value) == quoted


@pytest.mark.parametrize("name", ["work mem", "a=b", "x'", "", "1x", "a.", "a\nport"])
def test_a_name_that_is_none_is_refused(name: str):
    assert setting_problems({name: "1"})
    with pytest.raises(TrialError, match="not the name of a PostgreSQL setting"):
        written({name: "1"})


@pytest.mark.parametrize("name", ["port", "Listen_Addresses", "data_directory", "log_line_prefix"])
def test_what_teiten_sets_itself_is_refused(name: str):
    with pytest.raises(TrialError, match="set by Teiten itself"):
        written({name: "1"})


def test_a_value_cannot_begin_a_line_of_its_own():
    with pytest.raises(TrialError, match="control character"):
        written({"work_mem": "1MB'\nport = 1"})
    with pytest.raises(TrialError, match="control character"):
        host_based_access(["host all all all trust\nlocal all all reject"])


def test_extension_settings_may_have_dots():
    assert setting_problems({"pg_stat_statements.max": "1000", "TimeZone": "UTC"}) == []


@pytest.mark.parametrize(
    ("host", "address"), [("10.0.0.7", "10.0.0.7/32"), ("fd00::7", "fd00::7/128"), ("db.example", "db.example")]
)
def test_one_client_is_let_in_by_password_from_an_address_or_name(host: str, address: str):
    assert access_line(host, 160009) == f"host all all {address} scram-sha-256"
    assert access_line(host, 90624) == f"host all all {address} md5"
