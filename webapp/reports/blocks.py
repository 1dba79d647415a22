"""What the blocks of a report show: each asks the warehouse and returns parts of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext

from results.domain.errors import StateError, TeitenError
from results.domain.messages import COMMA, linked, localized, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.domain.secrets import masked_text
from results.models import Trial
from results.queries.comparison.citations import attempts_of, cited
from results.queries.comparison.compare import Comparison, compare
from results.queries.environment.described import describe
from results.queries.presets.versions import METRICS, Versions, versions
from results.queries.shared.ids import NotFound
from webapp import run_filter, urlstate
from webapp.compare import words
from webapp.documents.parts import Part, Prose, Table, escaped
from webapp.exports import comparison as exports
from webapp.exports.comparison import Exported, Source
from webapp.exports.environment import environment_table, settings_table
from webapp.reports.arrangement import arrangement
from webapp.reports.differences import differences_table
from webapp.reports.method import method
from webapp.reports.source import Block, pieces
from webapp.urlstate import NO_VIEW, View
from webapp.versions.copies import Copied, copied

_QUESTION: Mapping[str, type] = {"query": str, "citation": str, "caption": str}
NOTHING_ALIKE, KEEP = _("No two versions were measured alike."), _("Keep runs that compare versions.")
_RUN: Mapping[str, type] = {"run": int, "trial": int}


@dataclass
class Shelf:
    """Where a report is shown, and what its blocks have asked for.

    site: where Teiten answers, without the last '/'.
    now: when.
    asked: query → the comparison that answered it, and how it is drawn.
    tables: query and metric → the table of versions that answered it.
    used: query, or hash of a citation → the comparison whose numbers stand in the report.
    attempts: whose numbers stand in the report."""

    site: str
    now: datetime
    asked: dict[str, tuple[Comparison, View]] = field(default_factory=dict)
    tables: dict[tuple[str, str], Versions] = field(default_factory=dict)
    used: dict[str, Comparison] = field(default_factory=dict)
    attempts: set[int] = field(default_factory=set)

    def exported(self, options: Mapping[str, Any]) -> Exported:
        """Return the comparison that a block names. Raises TeitenError."""
        if ("query" in options) == ("citation" in options):
            raise TeitenError(
                _("It names no comparison."),
                todo=_('Write query = "run=21", what follows the ? in its address, or citation = "…", its hash.'),
            )
        if "citation" in options:
            citation = cited(options["citation"])
            page = self.site + reverse("citations:detail", args=[citation.row.hash])
            return self._used(citation.row.hash, citation.comparison, NO_VIEW, page)
        query = options["query"].removeprefix("?")
        if query not in self.asked:
            self.asked[query] = _compared(query)
        comparison, view = self.asked[query]
        return self._used(query, comparison, view, f"{self.site}{reverse('comparison')}?{query}")

    def versions(self, query: QueryDict, metric: str) -> Versions:
        """Return the table of versions that a block names, the same whenever it is asked for."""
        key = query.urlencode(), metric
        if key not in self.tables:
            self.tables[key] = _versions_of(query, metric)
        return self.tables[key]

    def _used(self, query: str, comparison: Comparison, view: View, page: str) -> Exported:
        self.used[query] = comparison
        self.attempts.update(attempts_of(comparison))
        return Exported(comparison, view, Source(page, self.site, self.now))


def _compared(query: str) -> tuple[Comparison, View]:
    selection, view = urlstate.read(query), urlstate.read_view(query)
    if not selection.runs:
        raise TeitenError(_("The query names no run."), todo=_('Write query = "run=21".'))
    comparison = compare(selection)
    if missing := words.missing(comparison):
        gone = linked(COMMA, map(str, missing))
        raise TeitenError(
            _("There is no run {runs} in this warehouse.", runs=gone),
            why=_("It was deleted, or never was here."),
            todo=_("Choose another run, or name the citation that its numbers are kept in."),
        )
    if not comparison.points:
        todo = _("Open the comparison and see what is excluded.")
        raise TeitenError(_("No trial of it has a value."), todo=todo)
    return comparison, view


@dataclass(frozen=True)
class Trouble:
    """A block that cannot be shown.

    line: of the text, from 1."""

    line: int
    error: TeitenError

    @property
    def words(self) -> str:
        """What the error says, in the language that is active."""
        return masked_text(localized(self.error.words))


def resolve(source: str, shelf: Shelf) -> tuple[list[Part], list[Trouble]]:
    """Return a text with its blocks filled in, and those that cannot be; these are said in their place."""
    parts: list[Part] = []
    troubles: list[Trouble] = []
    for piece in pieces(source):
        if not isinstance(piece, Block):
            parts.append(Prose(piece.markdown))
            continue
        try:
            parts += _shown(piece, shelf)
        except TeitenError as error:
            trouble = Trouble(piece.line, error)
            troubles.append(trouble)
            text = gettext("> **This block cannot be shown** (line {line}): {error}")
            parts.append(Prose(text.format(line=piece.line, error=escaped(trouble.words))))
    return parts, troubles


def _shown(block: Block, shelf: Shelf) -> list[Part]:
    kind = KINDS.get(block.name)
    if kind is None:
        raise TeitenError(_("There is no block {name!r}.", name=block.name), todo=suggestion(block.name, KINDS))
    try:
        return list(kind.shown(block.options(kind.options), shelf))
    except (NotFound, ObjectDoesNotExist) as error:
        what = error.args[0] if isinstance(error, NotFound) else str(error)
        raise TeitenError(what, todo=_("It was deleted, or never was here: choose another.")) from error


@dataclass(frozen=True)
class Kind:
    """A kind of block.

    title: as the editor offers it."""

    title: str
    options: Mapping[str, type]
    shown: Callable[[Mapping[str, Any], Shelf], Iterator[Part]]


def _comparison(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    yield from _findings(options, shelf)
    yield from _figure(options, shelf)
    yield from _cells(options, shelf)


def _findings(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    one = shelf.exported(options)
    if text := exports.lead(one.comparison):
        yield Prose(text)
    if remarks := exports.remarks(one):
        yield Prose(remarks)


def _figure(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    plates = list(exports.plates(shelf.exported(options)))
    number = options.get("figure")
    if number is not None:
        if not 1 <= number <= len(plates):
            what, todo = _("There is no figure {number}.", number=number), _("There are {n}.", n=len(plates))
            raise TeitenError(what, where="figure", todo=todo)
        plates = [plates[number - 1]]
    for plate in plates:
        title = options.get("caption") or plate.picture.title
        yield replace(plate, picture=replace(plate.picture, title=title))


def _cells(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    yield _captioned(exports.cells_table(shelf.exported(options).comparison), options)


def _captioned(table: Table, options: Mapping[str, Any]) -> Table:
    return replace(table, caption=options.get("caption") or table.caption)


def _environment(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    if table := environment_table(shelf.exported(options).of_series):
        yield _captioned(table, options)
    else:
        yield Prose(gettext("What these trials ran in is not recorded."))


def _settings(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    one = shelf.exported(options)
    if table := settings_table(one.of_series):
        yield _captioned(table, options)
    else:
        recorded = all(describe(ran.environment for ran in every).all_settings for every in one.of_series.values())
        alike = gettext("No setting differs from the defaults of the build.")
        yield Prose(alike if recorded else gettext("The settings are not recorded."))


def _differences(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    if table := differences_table(shelf.exported(options).comparison):
        yield _captioned(table, options)
    else:
        yield Prose(gettext("Nothing is compared with a baseline here, or nothing differs but what is compared."))


def _versions(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    """The table of versions, as its page has it under the same query."""
    query = _of_versions(options)
    yield from _versions_table(query, str(query.get("metric", "")), options, shelf)


def _grid(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    """The table of versions with a row for each metric: what the throughput cost."""
    query = _of_versions(options, but="metric")
    tables = [table for metric in ("", *METRICS) if (table := shelf.versions(query, metric)).rows]
    if not tables:
        raise TeitenError(NOTHING_ALIKE, todo=KEEP)
    shown = [version for version in tables[0].known if any(version in table.versions for table in tables)]
    lines: list[tuple[str, ...]] = []
    for table in tables:
        shelf.attempts.update(_attempts(table))
        lines += _grid_lines(table, shown, copied(table, _address(query, shelf), shelf.now))
    of_rows = gettext("configuration") if tables[0].workload else gettext("workload")
    heading = (gettext("metric"), of_rows, *shown)
    # xgettext:no-python-format
    caption = gettext("PostgreSQL versions: ratios to the baseline. In brackets: 95 % interval.")
    yield Table(options.get("caption") or caption, heading, tuple(lines), (False, False, *(True for _version in shown)))
    yield Prose(escaped(copied(tables[0], _address(query, shelf), shelf.now).provenance))


def _grid_lines(table: Versions, shown: Sequence[str], one: Copied) -> Iterator[tuple[str, ...]]:
    """Give the rows of one metric, a column for each version shown."""
    if table.metric:
        metric = localized(METRICS.get(table.metric, table.metric))
        name = gettext("{metric}, against {base}; below ×1 is less").format(metric=metric, base=table.base)
        name = name if table.base else metric  # of what was not measured nothing is the base
    else:
        name = gettext("throughput or time, against {base}; above ×1 is better").format(base=table.base)
    place = {version: number for number, version in enumerate(one.heading)}
    for line in one.lines:
        cells = (line[place[version]] if version in place else "–" for version in shown)
        yield (name, line[0], *cells)


def _of_versions(options: Mapping[str, Any], but: str = "") -> QueryDict:
    query = QueryDict(options.get("query", "").removeprefix("?"))
    known = {"workload", "baseline", "metric", "version", *run_filter.NAMES} - {but}
    for name in query:
        if name not in known:
            what = _("The table of versions has no {name!r}.", name=name)
            raise TeitenError(what, where="query", todo=suggestion(name, known))
    return query


def _versions_of(query: QueryDict, metric: str) -> Versions:
    only = [text for text in query.getlist("version") if text]
    workload, baseline = (str(query.get(name, "")) for name in ("workload", "baseline"))
    return versions(workload, baseline, only, metric, run_filter.read(query))


def _versions_table(query: QueryDict, metric: str, options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    table = shelf.versions(query, metric)
    if not table.rows:
        raise TeitenError(NOTHING_ALIKE, todo=KEEP)
    shelf.attempts.update(_attempts(table))
    one = copied(table, _address(query, shelf), shelf.now)
    caption = options.get("caption") or one.title
    yield Table(caption, one.heading, one.lines, (False, *(True for _version in one.heading[1:])))
    yield Prose(escaped(one.provenance))


def _attempts(table: Versions) -> Iterable[int]:
    """Return the attempts that count of the trials in a table of versions. One query."""
    trials = {trial for row in table.rows for cell in row.cells if cell for trial in cell.trial_ids}
    return filter(None, Trial.objects.filter(pk__in=trials).values_list("attempt_id", flat=True))


def _address(query: QueryDict, shelf: Shelf) -> str:
    return f"{shelf.site}{reverse('versions')}" + (f"?{query.urlencode()}" if query else "")


def _topology(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    trial = _trial(options, shelf)
    yield arrangement(trial, options.get("caption", ""), shelf.site)


def _method(options: Mapping[str, Any], shelf: Shelf) -> Iterator[Part]:
    yield from method(_trial(options, shelf), shelf.site)


def _trial(options: Mapping[str, Any], shelf: Shelf) -> int:
    """The trial that is named, or the first of the run that counts; its numbers are in the report. Raises TeitenError
    and NotFound."""
    if ("run" in options) == ("trial" in options):
        raise TeitenError(_("It names no run."), todo=_("Write run = 21, or trial = 185."))
    named = {"pk": options["trial"]} if "trial" in options else {"run": options["run"], "attempt__isnull": False}
    trial = Trial.objects.filter(**named).order_by("position").first()
    if trial is None and "run" in options:
        what = _("Run {run} has no trial that counts, or there is no such run.", run=options["run"])
        raise NotFound(what)
    if trial is None:
        raise NotFound(_("There is no trial {trial}.", trial=options["trial"]))
    if trial.attempt_id:
        shelf.attempts.add(trial.attempt_id)
    elif trial.run.private:  # of the others, publishing asks
        todo = _("Make it public first, or name a trial that counts.")
        raise StateError(_("Run {run} is private.", run=trial.run_id), todo=todo)
    return trial.pk


_TITLED: Mapping[str, type] = {**_RUN, "caption": str}
KINDS: Mapping[str, Kind] = {
    "comparison": Kind(pgettext_lazy("block of a report", "Comparison"), _QUESTION, _comparison),
    "findings": Kind(pgettext_lazy("block of a report", "Findings"), _QUESTION, _findings),
    "figure": Kind(pgettext_lazy("block of a report", "Figure"), {**_QUESTION, "figure": int}, _figure),
    "table": Kind(pgettext_lazy("block of a report", "Table"), _QUESTION, _cells),
    "versions": Kind(pgettext_lazy("block of a report", "Versions"), {"query": str, "caption": str}, _versions),
    "grid": Kind(pgettext_lazy("block of a report", "Versions × metrics"), {"query": str, "caption": str}, _grid),
    "environment": Kind(pgettext_lazy("block of a report", "Environment"), _QUESTION, _environment),
    "settings": Kind(pgettext_lazy("block of a report", "Settings"), _QUESTION, _settings),
    "differences": Kind(pgettext_lazy("block of a report", "Differences"), _QUESTION, _differences),
    "topology": Kind(pgettext_lazy("block of a report", "Topology"), _TITLED, _topology),
    "method": Kind(pgettext_lazy("block of a report", "Method"), _RUN, _method),
}
