"""manage.py export_orders: the waiting trials of a run as a file."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from results import runs
from results.domain.dataclass_json import from_json
from results.domain.json_text import loads
from tests import factories
from workers.offline import Orders, idle_after
from workers.orders import order_for

pytestmark = pytest.mark.django_db


def test_the_file_holds_the_order_of_each_waiting_trial_as_the_worker_would_have_it(tmp_path: Path) -> None:
    run = factories.run()
    done, *waiting = run.trials.select_related("configuration").order_by("position")
    factories.finish(done)
    file = tmp_path / "orders.json"
    call_command("export_orders", run.pk, to=file, stdout=io.StringIO())
    orders = from_json(Orders, loads(file.read_text())).orders
    assert [order.trial_key for order in orders] == [f"{run.pk}/{trial.pk}" for trial in waiting]
    assert orders[0] == order_for(waiting[0], 1)


def test_a_run_that_is_not_there_or_waits_for_nothing_and_a_file_that_is_there_are_refused(tmp_path: Path) -> None:
    run = factories.run()
    file = tmp_path / "orders.json"
    file.write_text("precious")
    with pytest.raises(CommandError, match="There is no run"):
        call_command("export_orders", factories.NO_ID, to=tmp_path / "x")
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_orders", run.pk, to=file)
    assert file.read_text() == "precious"
    runs.cancel_run(run.pk, "tests")
    with pytest.raises(CommandError, match="No trial of run"):
        call_command("export_orders", run.pk, to=tmp_path / "y")


def test_servers_are_stopped_where_no_later_order_needs_them() -> None:
    order = order_for(factories.run().trials.select_related("configuration").first(), 1)
    address = next(iter(order.addresses.values()))
    orders = [replace(order, addresses=dict.fromkeys(names, address)) for names in ("ab", "bc", "b")]
    assert idle_after(orders) == [{"a"}, {"c"}, {"b"}]
    assert idle_after([]) == []


def test_orders_whose_bundles_are_there_are_not_run_again(tmp_path: Path) -> None:
    run = factories.run()
    file, out = tmp_path / "orders.json", io.StringIO()
    call_command("export_orders", run.pk, to=file, stdout=io.StringIO())
    bundles = [tmp_path / f"{run.pk}/{trial.pk}-1.tar.gz" for trial in run.trials.order_by("position")]
    bundles[0].parent.mkdir()
    for bundle in bundles:
        bundle.write_bytes(b"measured")
    call_command("run_orders", file, to=tmp_path, stdout=out)
    assert out.getvalue().count("was there already: not run again") == len(bundles)
    assert {bundle.read_bytes() for bundle in bundles} == {b"measured"}
