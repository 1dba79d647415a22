"""What the table of versions says: ratios, intervals and verdicts in words, and the sentence on top. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from results.domain.statistics.verdict import Kind
from results.domain.units import counted
from results.queries.presets.version_rows import DECIDED, VersionCell, VersionRow
from results.queries.presets.versions import METRICS, VersionMean, Versions
from webapp.templatetags.teiten import decimals, ratio

# speeds from which on a cell is coloured so strongly, and their inverses
_STEPS = (1.02, 1.1, 1.25)


@dataclass(frozen=True)
class ShownCell:
    """A cell as the table shows it, and as it is copied.

    number: '×1.125', '' where there is no ratio.
    interval: '1.110 … 1.140', '' where there is none.
    kinds: its verdicts in words.
    heat: name of its colour.
    mark: ▲ or ▼ where the verdicts agree on that direction, = where all are the same, else ''."""

    cell: VersionCell
    number: str
    interval: str
    kinds: str
    heat: str
    mark: str


@dataclass(frozen=True)
class ShownMean:
    """The mean of a version's rows, likewise."""

    number: str
    interval: str


def shown_cell(cell: VersionCell, base: str) -> ShownCell:
    """Return what is shown of a cell.

    base: version of its row that others are compared with."""
    own_base = cell.version == base
    return ShownCell(
        cell=cell,
        number=ratio(cell.ratio),
        interval="" if own_base else interval(cell.low, cell.high),
        kinds="baseline" if own_base else kinds(cell),
        heat="" if own_base else heat(cell),
        mark="" if own_base else _mark(cell),
    )


def _mark(cell: VersionCell) -> str:
    if heat(cell) in ("", "even"):
        return "=" if Kind.SAME in cell.kinds and not {Kind.BETTER, Kind.WORSE} & cell.kinds.keys() else ""
    return "▲" if cell.ratio and cell.ratio > 1 else "▼"


def shown_mean(mean: VersionMean | None) -> ShownMean:
    if mean is None:
        return ShownMean("", "")
    return ShownMean(ratio(mean.ratio), interval(mean.low, mean.high))


def interval(low: float | None, high: float | None) -> str:
    return f"{decimals(low)} … {decimals(high)}" if low is not None and high is not None else ""


def subject(versions: Versions) -> str:
    """What the numbers are, in one clause."""
    if versions.metric:
        return f"{METRICS[versions.metric]}, relative to the row's baseline: below ×1 is less"
    return "Performance relative to the row's baseline: above ×1 is better"


def kinds(cell: VersionCell) -> str:
    """'2 better, 1 not comparable of 4': undecided cells are named only where nothing is decided; verdicts that
    are on these runs only say so."""
    undecided = Kind.TOO_FEW in cell.kinds
    decided = [f"{cell.kinds[kind]} {kind}" for kind in DECIDED if kind in cell.kinds]
    words = decided or ([Kind.TOO_FEW.words] if undecided else [])
    if apart := cell.kinds.get(Kind.NOT_COMPARABLE):
        words = [*words, f"{apart} not comparable"]
    text = ", ".join(words) + (f" of {sum(cell.kinds.values())}" if decided and undecided else "")
    return f"{text} in these runs" if decided and cell.of_these_runs else text


def heat(cell: VersionCell) -> str:
    """Name of the cell's colour: up3 … up1, even, down1 … down3; '' where no verdict decides anything. It has a
    direction only where the verdicts have that one and no other."""
    if cell.speed is None or not any(kind in cell.kinds for kind in DECIDED):
        return ""
    directions = {kind for kind in (Kind.BETTER, Kind.WORSE) if kind in cell.kinds}
    if directions != {Kind.BETTER if cell.speed > 1 else Kind.WORSE}:
        return "even"
    step = sum(max(cell.speed, 1 / cell.speed) >= limit for limit in _STEPS)
    return f"{'up' if cell.speed > 1 else 'down'}{max(step, 1)}"


def sentence(versions: Versions) -> str:
    """The answer in words for the newest version with a mean; '' where there is none. It is called faster or slower
    only where verdicts say so and none says otherwise."""
    for index in reversed(range(len(versions.versions))):
        version, mean = versions.versions[index], versions.means[index]
        cells = [(row, row.cells[index]) for row in versions.rows if row.base == versions.base]
        rows = [(row, cell) for row, cell in cells if cell is not None and cell.ratio]
        if mean is not None and rows and version != versions.base:
            return _sentence(version, versions.base, mean, rows, versions.metric)
    return ""


def _sentence(version: str, base: str, mean: float, rows: Sequence[tuple[VersionRow, VersionCell]], metric: str) -> str:
    kinds: Counter[str] = Counter()
    for _, cell in rows:
        kinds.update(cell.kinds)
    judged = kinds.total()
    apart = kinds.pop(Kind.NOT_COMPARABLE, 0)
    claim = _claim(version, base, mean, kinds, metric)
    if claim is None and all(row.published and cell.n <= judged + cell.missing for row, cell in rows):
        claim = f"Published figures, one value each: {version} against {base}"
    claim = claim or f"{_subject(version, metric)} is {Kind.TOO_FEW.words} against {base}:"
    across = " Measured in different runs, whose own levels are part of it."
    across = across if all(cell.of_these_runs for _, cell in rows) else ""
    left_out = f" Left out: {counted(apart, 'cell')} not comparable." if apart else ""
    evidence = _evidence([row for row, _ in rows if row.basis])
    return f"{claim} ×{mean:.3f}, as a geometric mean of the rows below.{evidence}{across}{left_out}"


def _evidence(rows: Sequence[VersionRow]) -> str:
    """How far the measured rows can be trusted: each says beneath its name what it rests on."""
    weak = [row for row in rows if row.is_weak]
    if not weak:
        return ""
    if len(rows) == 1:
        return f" The evidence is weak: {weak[0].basis}."
    return f" The evidence is weak in {len(weak)} of {len(rows)} rows, which say what they rest on."


def _claim(version: str, base: str, mean: float, kinds: Counter[str], metric: str) -> str | None:
    """What the verdicts decide; None where they decide nothing."""
    better, worse, same = kinds[Kind.BETTER], kinds[Kind.WORSE], kinds[Kind.SAME]
    of = f"of {counted(kinds.total(), 'cell')}:"
    subject, improved, declined, of_base = _subject(version, metric), "faster", "slower", base
    if metric:
        improved, declined, of_base = "lower", "higher", f"of {base}"
    is_improvement = mean < 1 if metric else mean > 1
    if better and not worse and is_improvement:
        return f"{subject} is {improved} than {of_base} in {better} {of}"
    if worse and not better and not is_improvement:
        return f"{subject} is {declined} than {of_base} in {worse} {of}"
    if better or worse:
        return f"{subject} is {improved} than {of_base} in {better} and {declined} in {worse} {of}"
    return f"{subject} is the same as {of_base} in {same} {of}" if same else None


def _subject(version: str, metric: str) -> str:
    return f"{METRICS[metric]} of {version}" if metric else version
