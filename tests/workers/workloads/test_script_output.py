"""What a command of one's own prints."""

from __future__ import annotations

import json

import pytest

from results import models
from results.domain.errors import ParseError
from results.domain.measurement.metrics import Better
from results.domain.measurement.parsed_trial import Measurement
from workers.workloads.script.output import declared, measurements, read_output


def test_lines_are_values_with_unit_label_and_direction() -> None:
    text = "# a remark\n\nthroughput 1.5e3 rows/s higher\nwait{lock a} 250 us lower\nerrors 0\r\n  size .5 kB  \n"
    printed = read_output(text)
    assert measurements(printed) == (
        Measurement("own.throughput", 1500.0),
        Measurement("own.wait", pytest.approx(0.00025), label="lock a"),
        Measurement("own.errors", 0.0),
        Measurement("own.size", 512.0),
    )
    assert [(m.name, m.unit, m.better) for m in declared(printed)] == [
        ("own.throughput", "rows/s", Better.HIGHER),
        ("own.wait", "s", Better.LOWER),
        ("own.errors", "1", Better.NEITHER),
        ("own.size", "B", Better.NEITHER),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": {"value": 2, "unit": "ms", "better": "lower"}}',
        '[{"metric": "a", "value": 1}, {"metric": "b", "value": 2, "unit": "ms", "better": "lower"}]',
        '\n {"a": {"value": 1}, "the second": {"metric": "b", "value": 2e0, "unit": "ms", "better": "lower"}}\n',
    ],
)
def test_json_is_an_object_or_a_list(text: str) -> None:
    printed = read_output(text)
    assert [(one.metric, one.value, one.unit, one.better) for one in printed] == [
        ("own.a", 1.0, "1", ""),
        ("own.b", 0.002, "s", "lower"),
    ]


def test_labels_tell_values_of_one_metric_apart() -> None:
    lines = read_output("a{x} 1\na{y} 2\na 3\n")
    keys = read_output(
        '[{"metric": "a", "label": "x", "value": 1}, {"metric": "a{y}", "value": 2}, {"metric": "a", "value": 3}]'
    )
    assert lines == keys
    assert [one.label for one in lines] == ["x", "y", ""]


def test_one_value_that_says_its_direction_says_it_for_the_metric() -> None:
    printed = read_output("a{x} 1 s higher\na{y} 2 s\n")
    assert [metric.better for metric in declared(printed)] == [Better.HIGHER]


def test_one_metric_may_be_printed_in_several_units_of_time() -> None:
    assert [one.value for one in read_output("a{x} 90 s\na{y} 1.5 min\na{z} 90000 ms\n")] == [90.0, 90.0, 90.0]


LINES = {
    "words": ("starting up", "'up' is no finite number"),
    "one word": ("a", "This is no line 'metric value unit"),
    "too many": ("a 1 s lower please", "This is no line"),
    "nan": ("a nan s", "'nan' is no finite number"),
    "infinity": ("a inf s", "'inf' is no finite number"),
    "beyond a double": ("a 1e999 s", "no finite number"),
    "beyond a double in the base unit": ("a 1e308 d", "no finite number"),
    "hexadecimal": ("a 0x10 s", "'0x10' is no finite number"),
    "grouped": ("a 1_000 s", "'1_000' is no finite number"),
    "a decimal comma": ("a 1,5 s", "'1,5' is no finite number"),
    "digits of another script": ("a ١٢ s", "is no finite number"),
    "a name with a slash": ("a/b 1 s", "'a/b' is no name of a metric"),
    "a name that begins with a digit": ("9a 1 s", "'9a' is no name of a metric"),
    "a name that is too long": (f"{'x' * 60} 1 s", "is no name of a metric"),
    "a label that is empty": ("a{} 1 s", "'' is no label"),
    "a label left open": ("a{x 1 s", "This is no line"),
    "the direction for the unit": ("a 1 higher", "'higher' stands where the unit does"),
    "another direction": ("a 1 s better", "'better' is neither 'higher' nor 'lower'"),
    "a long unit": (f"a 1 {'x' * 21}", "is no unit"),
    "twice": ("a 1 s", "a is printed twice; give each value a label of its own, as a{a}."),
    "two units": ("b{x} 1 rows", "own.b is printed in s and in rows."),
    "two directions": ("b{x} 1 s higher", "own.b is printed as better when higher and when lower."),
    "the room's own name": ("own.a 1 s", "a is printed twice"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_bad_line_is_told_with_its_number_and_text(name: str) -> None:
    line, what = LINES[name]
    with pytest.raises(ParseError) as refused:
        read_output(f"# first\na 1 s\nb 2 s lower\n{line}\n")
    assert what in refused.value.what
    assert (refused.value.file, refused.value.line, refused.value.text) == ("stdout", 4, line)


DOCUMENTS = {
    "not closed": ('{"a": 1,\n "b": ', "This is no JSON"),
    "nan": ('{"a": NaN}', "'NaN' is no finite number"),
    "beyond a double": ('{"a": 1e999}', "no finite number"),
    "an integer beyond a double": ('{"a": 1' + "0" * 400 + "}", "no finite number"),
    "true": ('{"a": true}', "its value True is no number"),
    "text": ('{"a": "1"}', "its value '1' is no number"),
    "null": ('{"a": {"value": null}}', "its value None is no number"),
    "a key twice": ('{"a": 1, "a": 2}', "The key 'a' stands there twice"),
    "a strange key": ('[{"metric": "a", "value": 1, "colour": "red"}]', "there is no key 'colour'"),
    "no name": ('[{"value": 1}]', "there is no name: the key 'metric'"),
    "a number in the list": ("[1]", "it is no object"),
    "two labels": ('[{"metric": "a{x}", "label": "y", "value": 1}]', "is no name of a metric"),
    "a unit that is no text": ('{"a": {"value": 1, "unit": 5}}', "are texts"),
    "the same value twice": ('[{"metric": "a", "value": 1}, {"metric": "a", "value": 2}]', "a is printed twice"),
    "nothing": ("{}", "The command printed no metric."),
    "two documents": ('{"a": 1}\n{"b": 2}', "This is no JSON"),
    "nested without end": ("[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_bad_json_is_told(name: str) -> None:
    text, what = DOCUMENTS[name]
    with pytest.raises(ParseError) as refused:
        read_output(text)
    assert what in refused.value.what
    assert refused.value.file == "stdout"


def test_the_longest_name_fits_the_warehouse() -> None:
    [printed] = read_output(f"{'x' * 59} 1 {'u' * 20}\n")
    assert len(printed.metric) == models.Metric._meta.get_field("name").max_length
    assert len(printed.unit) == models.Metric._meta.get_field("unit").max_length


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_an_output_without_a_value_is_no_result(text: str) -> None:
    with pytest.raises(ParseError, match="printed no metric"):
        read_output(text)


def test_very_many_values_and_digits_are_read_in_one_pass() -> None:
    text = json.dumps({f"a{n}": n for n in range(200_000)})
    assert len(read_output(text)) == 200_000
    with pytest.raises(ParseError, match="is no finite number"):
        read_output(f"a {'1' * 1_000_000}x s\n")


def test_json_of_more_values_than_are_read_is_refused() -> None:
    with pytest.raises(ParseError, match="more than 2,000,000 values"):
        read_output(f"[{'[],' * 1_000_001}[]]")
