"""For tests of what two configurations measured: their quantities, judged by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from results.domain.measurement.metrics import Metric
from results.domain.statistics.metric_changes import (
    Answer,
    MeasuredQuantity,
    MeasuredTrial,
    MetricChange,
    Part,
    Trials,
    Value,
    metric_changes,
)
from results.domain.statistics.verdict import Question, Sample, judge


def changes(
    base: Sequence[MeasuredTrial],
    other: Sequence[MeasuredTrial],
    metrics: Mapping[str, Metric],
    *,
    comparable: bool = True,
    apart: str = "",
    closed_loop: bool = False,
) -> tuple[MetricChange, ...]:
    trials = Trials(base, other, [*base, *other], metrics, closed_loop)
    return metric_changes(trials, two_sides(trials, comparable=comparable), apart=apart)


def two_sides(trials: Trials, *, comparable: bool = True) -> Callable[[MeasuredQuantity], Mapping[Part, Answer]]:
    """Judge a quantity of the two configurations by nothing but their own trials."""

    def answers(quantity: MeasuredQuantity) -> dict[Part, Answer]:
        sides = {
            part: [{one: values[one] for one in side if one in values} for side in (trials.base, trials.other)]
            for part, values in quantity.values.items()
        }
        shared = {part: both for part, both in sides.items() if all(both)}
        questions = [
            Question(_sample(base), _sample(other), quantity.better, quantity.minimum_effect, comparable=comparable)
            for base, other in shared.values()
        ]
        verdicts = judge(questions)
        return {
            part: Answer(_values(base), _values(other), verdict)
            for (part, (base, other)), verdict in zip(shared.items(), verdicts, strict=True)
        }

    return answers


def _sample(values: Mapping[MeasuredTrial, float]) -> Sample:
    return Sample(tuple(values.values()), tuple(one.key for one in values))


def _values(values: Mapping[MeasuredTrial, float]) -> tuple[Value, ...]:
    return tuple(Value(one.trial_id, value) for one, value in values.items())
