import subprocess

import pytest

from workers.remote.clock import PRINT_BOOT, Boot, parse_boot, set_by

ID = "0d6b2c3e-6a4a-4a57-9d6e-3c0f1a2b4c5d"


def booted() -> Boot:
    shown = subprocess.run(["sh"], input=PRINT_BOOT, capture_output=True, text=True, check=True)
    return parse_boot(shown.stdout)


def test_a_machine_whose_clock_runs_on_was_always_started_at_one_moment():
    first, second = booted(), booted()
    assert first.id == second.id
    assert first.at_s > 1.6e9
    assert set_by(first, second) is None


def test_the_reading_that_took_the_shortest_time_counts():
    printed = f"100.00 1100.9 101.00\n200.00 1200.02 200.03\n300.00 1301.0 302.00\n{ID}\n"
    boot = parse_boot(printed)
    assert boot.id == ID
    assert boot.at_s == pytest.approx(1000.0)
    assert boot.error_s == pytest.approx(0.02)


def test_a_container_may_have_whole_seconds_only():
    early, late = (parse_boot(f"{second}.00 {now} {second}.00\n{ID}\n") for second, now in ((7, 1007.99), (9, 1009.01)))
    assert early.error_s == pytest.approx(0.5)
    assert set_by(early, late) is None


@pytest.mark.parametrize(
    ("after_s", "error_s", "step_s"),
    [
        (1000.0, 0.01, None),
        (1000.11, 0.01, None),
        (1000.2, 0.01, 0.2),
        (1000.2, 0.1, None),  # read on a busy machine
        (4600.0, 0.01, 3600.0),
        (995.0, 0.01, -5.0),
    ],
)
def test_a_clock_is_set_where_it_differs_by_more_than_its_readings_do(
    after_s: float, error_s: float, step_s: float | None
):
    found = set_by(Boot(ID, 1000.0, 0.01), Boot(ID, after_s, error_s))
    assert found == (None if step_s is None else pytest.approx(step_s))


def test_nothing_is_known_of_a_machine_that_was_started_anew():
    assert set_by(Boot(ID, 1000.0, 0.01), Boot("another", 9000.0, 0.01)) is None


@pytest.mark.parametrize("readings", ["", "1.0 x 1.0\n", "1.0 nan 1.0\n", "1.0 2.0\n", "2.0 3.0 1.0\n"])
def test_an_answer_that_tells_no_time_is_refused(readings: str):
    with pytest.raises(ValueError, match=r"empty|convert|finite|unpack"):
        parse_boot(f"{readings}{ID}\n")
