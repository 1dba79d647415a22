"""How far the numbers of a comparison can be trusted: facts about its trials, graded by stated thresholds. Pure.

A fact never changes a verdict: it says what the verdict rests on. Thresholds and why they are where they are:
docs/method.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import NamedTuple

from results.domain.messages import Message, ngettext_lazy, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_number

FEW_REPLICATES, ENOUGH_REPLICATES = 5, 10
SHORT_S, LONG_S = 10.0, 60.0
MUCH_SPREAD = 2.5  # smallest effects worth a verdict
LARGE_EFFECT, LARGEST_EFFECT = 2.0, 5.0  # likewise
FULL_PERCENT, BUSY_PERCENT = 90.0, 75.0
UNSTEADY_PERCENT = 10.0  # of change within a window
SOME_UNSTEADY, MOST_UNSTEADY = 0.1, 0.5  # of the trials
CHANCE = 2.0  # standard errors beyond which a change within a window is none of chance
FIRST_SHARE, FEWEST_FIRST = 10, 3  # of the seconds that `steady.start` is of
TIMED_SHARE = 0.1  # how far a window that was to last so long may be from it


class Grade(StrEnum):
    FINE = "fine"
    MIND = "mind"
    WEAK = "weak"

    @property
    def words(self) -> str:
        """As pages write it; '' where nothing is to be said."""
        return _GRADES.get(self, "")


_GRADES = {Grade.MIND: _("mind this"), Grade.WEAK: pgettext_lazy("grade of trust", "weak")}


@dataclass(frozen=True)
class Fact:
    """One reason to trust a comparison, or not to.

    value: in `unit`; None where it is not known.
    words: as the line under a headline has it.
    basis: what a headline says of it where it is weak, after 'from 3 replicates of 5 s'; '' where that has it.
    trial_id: of the trial that shows it most; None where it is of all.
    run_id: of the run that it comes from; None where that is one of those compared."""

    name: str
    value: float | None
    unit: str
    grade: Grade
    words: str
    basis: str = ""
    trial_id: int | None = None
    run_id: int | None = None


class TrialFacts(NamedTuple):
    """What is known of one attempt that counts; None where it is not recorded.

    seconds: of the measured window; planned_s: what the plan asked for.
    cold: the plan wanted cold caches.
    day: of the measurement, UTC.
    shares_host: a client ran on the host of a server.
    client_busy, server_busy: percent of the processors, of the busiest host.
    variation, trend, start: percent, see `steady.*`; trend and start without their sign."""

    attempt_id: int
    trial_id: int
    seconds: float | None
    planned_s: float | None
    warmup_s: float | None
    cold: bool | None
    day: str | None
    shares_host: bool | None
    client_busy: float | None
    server_busy: float | None
    variation: float | None
    trend: float | None
    start: float | None

    @property
    def is_timed(self) -> bool:
        """Whether the window lasted as long as the plan says, not until the work was done."""
        if not self.seconds or not self.planned_s:
            return False
        return abs(self.seconds - self.planned_s) <= max(1.0, TIMED_SHARE * self.planned_s)

    @property
    def is_unsteady(self) -> bool | None:
        """Whether throughput changed within the window by more than a tenth and by more than chance makes of seconds
        that vary so. None where nobody knows."""
        if self.seconds is None or self.variation is None:
            return None
        n = max(round(self.seconds), FEWEST_FIRST + 1)
        first = max(FEWEST_FIRST, n // FIRST_SHARE)
        changes = (
            (self.trend, math.sqrt(12 / n)),
            (self.start, math.sqrt(1 / first + 1 / (n - first))),
        )
        return any(
            change is not None and change > max(UNSTEADY_PERCENT, CHANCE * self.variation * error)
            for change, error in changes
        )


@dataclass(frozen=True)
class Noise:
    """What an A/A run on the same agents kept of the metric.

    spread: as a share; None where it is of other values, or of some of the runs only."""

    run_id: int
    spread: float | None


@dataclass(frozen=True)
class Sides:
    """What the verdicts rest on.

    replicates: of each configuration.
    spreads: of each, the standard deviation of its replicates as a share of their mean.
    detectable: of each verdict, the smallest difference that so many replicates show.
    minimum_effect: the smallest relative change worth a verdict.
    drifting: runs whose values changed from their first trial to their last.
    ordered: runs in which the place within a block mattered.
    across_runs: the sides were measured in different runs.
    levels_known: from further runs it is known how far runs lie apart.
    base, other: attempts of either side, where the sides were measured in different runs."""

    replicates: tuple[int, ...]
    spreads: tuple[float, ...]
    detectable: tuple[float, ...]
    minimum_effect: float
    compared: bool = False
    drifting: tuple[int, ...] = ()
    ordered: tuple[int, ...] = ()
    across_runs: bool = False
    levels_known: bool = False
    base: frozenset[int] = frozenset()
    other: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Trust:
    """The facts, in the order in which pages have them."""

    facts: tuple[Fact, ...] = ()

    @property
    def is_weak(self) -> bool:
        return any(fact.grade is Grade.WEAK for fact in self.facts)

    @property
    def basis(self) -> str:
        """What a headline rests on: 'from 3 replicates of 5 s on one full machine'; '' of nothing."""
        named = {fact.name: fact for fact in self.facts}
        if "replicates" not in named:
            return ""
        replicates, duration = named["replicates"].basis, named["duration"].basis
        basis = _("from {replicates}", replicates=replicates)
        if duration:
            basis = _("from {replicates} of {duration}", replicates=replicates, duration=duration)
        reasons = [fact.basis for fact in self.facts[2:] if fact.grade is Grade.WEAK and fact.basis]
        if reasons:
            basis = pgettext_lazy("what a headline rests on", "{basis} {reason}", basis=basis, reason=reasons[0])
        for reason in reasons[1:]:
            basis = pgettext_lazy("what a headline rests on", "{basis}, {reason}", basis=basis, reason=reason)
        return basis


def trust(sides: Sides, trials: Sequence[TrialFacts], noise: Noise | None) -> Trust:
    """Return what is known of the trials compared; nothing without any."""
    if not sides.replicates:
        return Trust()
    facts = (
        _replicates(sides),
        _duration(trials),
        _warm_up(trials),
        _spread(sides),
        _steady(trials),
        _client(trials),
        _processors(trials),
        _drift(sides),
        _noise(noise, sides.minimum_effect),
        *_detectable(sides),
        *_days(sides, trials),
    )
    return Trust(facts)


def _replicates(sides: Sides) -> Fact:
    fewest, most = min(sides.replicates), max(sides.replicates)
    count = ngettext_lazy("{number:,} replicate", "{number:,} replicates", fewest)
    if fewest != most:
        count = _("{fewest} to {most} replicates", fewest=fewest, most=most)
    grade = _at_least(fewest, FEW_REPLICATES, ENOUGH_REPLICATES)
    return Fact("replicates", fewest, "1", grade, count, count)


def _duration(trials: Sequence[TrialFacts]) -> Fact:
    seconds = [trial.seconds for trial in trials if trial.seconds is not None]
    if not seconds:
        return Fact("duration", None, "s", Grade.MIND, _("duration not recorded"))
    shortest, longest = format_seconds(min(seconds)), format_seconds(max(seconds))
    span: str = shortest
    if shortest != longest:
        span = pgettext_lazy("durations", "{shortest} to {longest}", shortest=shortest, longest=longest)
    grade = _at_least(min(seconds) * 1.001, SHORT_S, LONG_S)
    return Fact("duration", min(seconds), "s", grade, _("{span} each", span=span), span)


def _warm_up(trials: Sequence[TrialFacts]) -> Fact:
    if trials and not any(trial.is_timed for trial in trials):
        return _untimed(trials)
    least = min((trial.warmup_s or 0 for trial in trials), default=0)
    if least:
        return Fact("warm_up", least, "s", Grade.FINE, _("{span} of warm-up", span=format_seconds(least)))
    meant = bool(trials) and all(trial.cold for trial in trials)
    words = _("caches cold as planned") if meant else _("no warm-up")
    return Fact("warm_up", 0, "s", Grade.FINE if meant else Grade.MIND, words)


def _untimed(trials: Sequence[TrialFacts]) -> Fact:
    if any(trial.seconds is not None for trial in trials):
        return Fact("warm_up", None, "s", Grade.FINE, _("each trial until its work is done"))
    return Fact("warm_up", None, "s", Grade.MIND, _("warm-up not recorded"))


def _spread(sides: Sides) -> Fact:
    if not sides.spreads:
        return Fact("spread", None, "%", Grade.WEAK, _("spread not known"), _("with a spread that nobody knows"))
    percent = 100 * median(sides.spreads)
    grade = _at_most(percent, 100 * sides.minimum_effect, 100 * MUCH_SPREAD * sides.minimum_effect)
    text = f"{_two_digits(percent)} %"
    words, basis = _("spread {percent}", percent=text), _("that spread by {percent}", percent=text)
    return Fact("spread", percent, "%", grade, words, basis)


def _steady(trials: Sequence[TrialFacts]) -> Fact:
    known = [(trial, trial.is_unsteady) for trial in trials if trial.is_unsteady is not None]
    if not known:
        return Fact("steady", None, "%", Grade.MIND, _("steadiness not known"))
    unsteady = [trial for trial, doubted in known if doubted]
    share = len(unsteady) / len(known)
    grade = _at_most(share, SOME_UNSTEADY, MOST_UNSTEADY)
    words = _("steady")
    if unsteady:
        words = ngettext_lazy(
            "{unsteady} of {number:,} trial unsteady",
            "{unsteady} of {number:,} trials unsteady",
            len(known),
            unsteady=len(unsteady),
        )
    worst = max(unsteady, key=lambda trial: max(trial.trend or 0, trial.start or 0), default=None)
    basis = _("most of them unsteady")
    return Fact("steady", 100 * share, "%", grade, words, basis, worst.trial_id if worst else None)


def _client(trials: Sequence[TrialFacts]) -> Fact:
    known = [trial.shares_host for trial in trials if trial.shares_host is not None]
    if not known:
        return Fact("client", None, "%", Grade.MIND, _("where the client ran is not recorded"))
    share = 100 * sum(known) / len(known)
    words = _("client on the server's host") if share == 100 else _("client on a host of its own")
    if 0 < share < 100:
        words = _("client on the server's host in some trials")
    return Fact("client", share, "%", Grade.MIND if share else Grade.FINE, words)


def _processors(trials: Sequence[TrialFacts]) -> Fact:
    """A server that is full is what throughput is measured of; a client that is full is measured itself."""
    clients = _busy(trials, lambda trial: trial.client_busy)
    servers = _busy(trials, lambda trial: trial.server_busy)
    if clients is None and servers is None:
        return Fact("processors", None, "%", Grade.MIND, _("processors not recorded"))
    if clients is None:
        assert servers is not None
        words = _("server's processors {busy} busy", busy=servers.words)
        return Fact("processors", servers.median, "%", Grade.MIND, words, trial_id=servers.trial_id)
    grade = _at_most(clients.median, BUSY_PERCENT, FULL_PERCENT)
    if any(trial.shares_host for trial in trials):
        words, basis = _("processors {busy} busy", busy=clients.words), _("on one full machine")
    else:
        words, basis = _apart(clients, servers), _("with a full client machine")
    return Fact("processors", clients.median, "%", grade, words, basis, clients.trial_id)


def _apart(clients: _Busy, servers: _Busy | None) -> Message:
    if servers is None:
        return _("client's processors {busy} busy", busy=clients.words)
    return _(
        "processors {clients} busy on the client, {servers} on the server",
        clients=clients.words,
        servers=servers.words,
    )


class _Busy(NamedTuple):
    median: float
    largest: float
    trial_id: int

    @property
    def words(self) -> str:
        middle, most = f"{self.median:.0f}", f"{self.largest:.0f}"
        if middle == most:
            return f"{middle} %"
        return _("{middle} (up to {most})", middle=f"{middle} %", most=f"{most} %")


def _busy(trials: Iterable[TrialFacts], of: Callable[[TrialFacts], float | None]) -> _Busy | None:
    known = [(value, trial.trial_id) for trial in trials if (value := of(trial)) is not None]
    if not known:
        return None
    largest, trial_id = max(known)
    return _Busy(median(value for value, _ in known), largest, trial_id)


def _drift(sides: Sides) -> Fact:
    runs = {*sides.drifting, *sides.ordered}
    if not runs:
        return Fact("drift", 0, "1", Grade.FINE, _("no drift seen"))
    basis = _("while values drifted") if sides.drifting else _("whose place within a block mattered")
    return Fact("drift", len(runs), "1", Grade.WEAK, _drift_words(sides), basis)


def _drift_words(sides: Sides) -> Message:
    if not sides.ordered:
        return _drifted(sides.drifting)
    if not sides.drifting:
        return _ordered(sides.ordered)
    return _("{drifted}, {ordered}", drifted=_drifted(sides.drifting), ordered=_ordered(sides.ordered))


def _drifted(ids: Iterable[int]) -> Message:
    runs = sorted(set(ids))
    return ngettext_lazy("run {runs} drifted", "runs {runs} drifted", len(runs), runs=", ".join(map(str, runs)))


def _ordered(ids: Iterable[int]) -> Message:
    runs = sorted(set(ids))
    return ngettext_lazy(
        "place within a block mattered in run {runs}",
        "place within a block mattered in runs {runs}",
        len(runs),
        runs=", ".join(map(str, runs)),
    )


def _noise(noise: Noise | None, minimum_effect: float) -> Fact:
    if noise is None:
        return Fact("noise", None, "%", Grade.MIND, _("A/A noise never measured"))
    if noise.spread is None:
        words = _("A/A noise of all these values not known")
        return Fact("noise", None, "%", Grade.MIND, words, run_id=noise.run_id)
    percent = 100 * noise.spread
    grade = _at_most(percent, 100 * minimum_effect, 100 * MUCH_SPREAD * minimum_effect)
    words = _("A/A noise {percent}", percent=f"{_two_digits(percent)} %")
    return Fact("noise", percent, "%", grade, words, _("on a noisy machine"), run_id=noise.run_id)


def _detectable(sides: Sides) -> Iterable[Fact]:
    if not sides.compared:
        return
    if not sides.detectable:
        yield Fact("detectable", None, "%", Grade.WEAK, _("too few replicates to show a difference"))
        return
    percent = 100 * median(sides.detectable)
    effect = 100 * sides.minimum_effect
    grade = _at_most(percent, LARGE_EFFECT * effect, LARGEST_EFFECT * effect)
    words = _("shows differences from {percent}", percent=f"{_two_digits(percent)} %")
    yield Fact("detectable", percent, "%", grade, words)


def _days(sides: Sides, trials: Sequence[TrialFacts]) -> Iterable[Fact]:
    """A comparison within runs needs no such fact: blocks alternate between the sides."""
    if not sides.across_runs:
        return
    base, other = (
        {trial.day for trial in trials if trial.day and trial.attempt_id in side} for side in (sides.base, sides.other)
    )
    if base and other and base.isdisjoint(other):
        grade = Grade.MIND if sides.levels_known else Grade.WEAK
        words = _("sides measured on other days ({base}; {other})", base=_span(base), other=_span(other))
        yield Fact("days", len(base | other), "1", grade, words, _("with the sides measured on other days"))
    else:
        yield Fact("days", len(base | other), "1", Grade.MIND, _("sides measured in different runs"))


def _span(days: Iterable[str]) -> str:
    first, *rest = sorted(days)
    return pgettext_lazy("days", "{first} to {last}", first=first, last=rest[-1]) if rest else first


def format_seconds(seconds: float) -> str:
    """5.02 → '5 s', 600 → '10 min', 5400 → '1.5 h'."""
    if seconds >= 5400:
        return f"{format_number(seconds / 3600, 2)} h"
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 3 else f"{format_number(seconds, 2)} s"


def _two_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def _at_least(value: float, weak_below: float, fine_from: float) -> Grade:
    if value < weak_below:
        return Grade.WEAK
    return Grade.FINE if value >= fine_from else Grade.MIND


def _at_most(value: float, fine_to: float, mind_to: float) -> Grade:
    if value <= fine_to:
        return Grade.FINE
    return Grade.MIND if value <= mind_to else Grade.WEAK
