from workers.postgres.settings import Setting
from workers.postgres.verify import State, check_access_method, check_autovacuum, check_role, check_version


def state(**changes: object) -> State:
    default = {"default_table_access_method": Setting("heap", None, "default", "heap")}
    values = {"standby": False, "version_num": 160009, "settings": default, "tables": {}, "busy": ()} | changes
    return State(**values)


def test_a_primary_is_no_standby():
    assert check_role(state(), node="primary").passed
    assert not check_role(state(), node="standby", standby=True).passed


def test_a_server_of_another_major_version_is_found_out():
    assert check_version(state(), node="primary", expected=160014).passed
    assert not check_version(state(), node="primary", expected=180004).passed
    assert not check_version(state(version_num=90624), node="primary", expected=90500).passed


def test_every_table_must_have_the_wanted_access_method():
    tables = {"accounts": "zheap", "branches": "heap"}
    check = check_access_method(state(tables=tables), node="primary", access_method="zheap")
    assert (check.expected, check.actual, check.passed) == ("zheap", "branches: heap", False)
    assert check_access_method(state(tables={"accounts": "zheap"}), node="primary", access_method="zheap").passed


def test_without_a_wanted_access_method_the_servers_default_counts():
    assert check_access_method(state(tables={"t": "heap"}), node="primary").passed
    assert not check_access_method(state(tables={"t": "zedstore"}), node="primary").passed


def test_a_server_before_12_has_heaps_only():
    assert check_access_method(state(settings={}, tables={"t": "heap"}), node="primary").passed


def test_autovacuum_at_work_is_named():
    check = check_autovacuum(state(busy=("autovacuum: VACUUM public.t",)), node="primary")
    assert (check.actual, check.passed) == ("autovacuum: VACUUM public.t", False)


def test_a_table_that_its_parameters_store_otherwise_must_be_stored_so():
    tables = {"facts": "heap2", "dates": "heap"}
    kept = check_access_method(state(tables=tables), node="primary", stored_by={"facts": "heap2"})
    assert (kept.passed, kept.expected) == (True, "heap, facts: heap2")
    broken = check_access_method(state(tables=tables | {"facts": "heap"}), node="primary", stored_by={"facts": "heap2"})
    assert (broken.passed, broken.actual) == (False, "facts: heap")
    absent = check_access_method(state(tables={"dates": "heap"}), node="primary", stored_by={"facts": "heap2"})
    assert (absent.passed, absent.actual) == (False, "facts: missing")
