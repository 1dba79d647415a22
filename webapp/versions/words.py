"""What the table of versions says: ratios, intervals and verdicts in words, and the sentence on top. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from results.domain.messages import localized
from results.domain.statistics.verdict import Kind
from results.queries.presets.version_rows import DECIDED, VersionCell, VersionRow
from results.queries.presets.versions import METRICS, VersionMean, Versions
from webapp.language import joined
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
        kinds=gettext("baseline") if own_base else kinds(cell),
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
        text = gettext("{metric}, relative to the row's baseline: below ×1 is less")
        return text.format(metric=localized(METRICS[versions.metric]))
    return gettext("Performance relative to the row's baseline: above ×1 is better")


def kinds(cell: VersionCell) -> str:
    """'2 better, 1 not comparable of 4': undecided cells are named only where nothing is decided; verdicts that
    are on these runs only say so."""
    undecided = Kind.TOO_FEW in cell.kinds
    decided = [_counted(cell.kinds[kind], kind) for kind in DECIDED if kind in cell.kinds]
    words = decided or ([localized(Kind.TOO_FEW.words)] if undecided else [])
    if apart := cell.kinds.get(Kind.NOT_COMPARABLE):
        words = [*words, _counted(apart, Kind.NOT_COMPARABLE)]
    text = joined(words)
    if decided and undecided:
        text = gettext("{verdicts} of {all}").format(verdicts=text, all=sum(cell.kinds.values()))
    return gettext("{verdicts} in these runs").format(verdicts=text) if decided and cell.of_these_runs else text


def _counted(count: int, kind: Kind) -> str:
    return gettext("{n} {verdict}").format(n=count, verdict=localized(kind.words))


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
        claim = gettext("Published figures, one value each: {version} against {base}")
        claim = claim.format(version=version, base=base)
    text = gettext("{claim} ×{mean:.3f}, as a geometric mean of the rows below.")
    text = text.format(claim=claim or _undecided(version, base, metric), mean=mean)
    text += _evidence([row for row, _ in rows if row.basis])
    if all(cell.of_these_runs for _, cell in rows):
        text += gettext(" Measured in different runs, whose own levels are part of it.")
    if apart:
        left_out = ngettext(" Left out: {n:,} cell not comparable.", " Left out: {n:,} cells not comparable.", apart)
        text += left_out.format(n=apart)
    return text


def _evidence(rows: Sequence[VersionRow]) -> str:
    """How far the measured rows can be trusted: each says beneath its name what it rests on."""
    weak = [row for row in rows if row.is_weak]
    if not weak:
        return ""
    if len(rows) == 1:
        return gettext(" The evidence is weak: {basis}.").format(basis=localized(weak[0].basis))
    text = gettext(" The evidence is weak in {n} of {all} rows, which say what they rest on.")
    return text.format(n=len(weak), all=len(rows))


def _claim(version: str, base: str, mean: float, kinds: Counter[str], metric: str) -> str | None:
    """What the verdicts decide; None where they decide nothing."""
    better, worse, same, cells = kinds[Kind.BETTER], kinds[Kind.WORSE], kinds[Kind.SAME], kinds.total()
    if not (better or worse or same):
        return None
    is_improvement = mean < 1 if metric else mean > 1
    claims = _claims_of_metric(cells) if metric else _claims_of_speed(cells)
    claim = claims.same
    if better or worse:
        claim = claims.of(only_better=not worse, only_worse=not better, is_improvement=is_improvement)
    name = localized(METRICS[metric]) if metric else ""
    return claim.format(metric=name, version=version, base=base, better=better, worse=worse, same=same, n=cells)


@dataclass(frozen=True)
class _Claims:
    improved: str
    declined: str
    both: str
    same: str

    def of(self, *, only_better: bool, only_worse: bool, is_improvement: bool) -> str:
        """Return what verdicts of one direction or both say; one that the mean does not go in is told with the
        other."""
        if only_better and is_improvement:
            return self.improved
        return self.declined if only_worse and not is_improvement else self.both


def _claims_of_speed(cells: int) -> _Claims:
    """Return what may be said of so many cells, with the numbers' places."""
    return _Claims(
        improved=ngettext(
            "{version} is faster than {base} in {better} of {n:,} cell:",
            "{version} is faster than {base} in {better} of {n:,} cells:",
            cells,
        ),
        declined=ngettext(
            "{version} is slower than {base} in {worse} of {n:,} cell:",
            "{version} is slower than {base} in {worse} of {n:,} cells:",
            cells,
        ),
        both=ngettext(
            "{version} is faster than {base} in {better} and slower in {worse} of {n:,} cell:",
            "{version} is faster than {base} in {better} and slower in {worse} of {n:,} cells:",
            cells,
        ),
        same=ngettext(
            "{version} is the same as {base} in {same} of {n:,} cell:",
            "{version} is the same as {base} in {same} of {n:,} cells:",
            cells,
        ),
    )


def _claims_of_metric(cells: int) -> _Claims:
    return _Claims(
        improved=ngettext(
            "{metric} of {version} is lower than of {base} in {better} of {n:,} cell:",
            "{metric} of {version} is lower than of {base} in {better} of {n:,} cells:",
            cells,
        ),
        declined=ngettext(
            "{metric} of {version} is higher than of {base} in {worse} of {n:,} cell:",
            "{metric} of {version} is higher than of {base} in {worse} of {n:,} cells:",
            cells,
        ),
        both=ngettext(
            "{metric} of {version} is lower than of {base} in {better} and higher in {worse} of {n:,} cell:",
            "{metric} of {version} is lower than of {base} in {better} and higher in {worse} of {n:,} cells:",
            cells,
        ),
        same=ngettext(
            "{metric} of {version} is the same as of {base} in {same} of {n:,} cell:",
            "{metric} of {version} is the same as of {base} in {same} of {n:,} cells:",
            cells,
        ),
    )


def _undecided(version: str, base: str, metric: str) -> str:
    if metric:
        text = gettext("{metric} of {version} is undecided against {base}:")
        return text.format(metric=localized(METRICS[metric]), version=version, base=base)
    return gettext("{version} is undecided against {base}:").format(version=version, base=base)
