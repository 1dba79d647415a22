"""What the trials of a comparison ran in, as a table and as a sentence. Pure but for `environments_of_series`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext, pgettext

from results.domain.messages import SEMICOLON, localized
from results.domain.messages import gettext_lazy as _
from results.queries.comparison.cells import Comparison
from results.queries.environment.described import Described, describe
from results.queries.environment.environments import TrialEnvironment, environments_of
from webapp.compare.words import names_of
from webapp.documents.parts import Table
from webapp.documents.words import sentences
from webapp.language import joined

NOT_RECORDED, DEFAULT = "–", _("default")
_MOST_SETTINGS = 8  # that a caption names
_SHORT = ("processor", "memory", "system", "file system")


def environments_of_series(comparison: Comparison) -> dict[str, list[TrialEnvironment]]:
    """Return of each series, by its name on the page, the different environments of its trials. One query."""
    names = names_of(comparison)
    attempts: dict[str, set[int]] = {name: set() for name in names.values()}
    for point in comparison.points:
        attempts[names[point.series]].update(replicate.attempt_id for replicate in point.values)
    found = environments_of(sorted(set[int]().union(*attempts.values())))
    return {
        name: list(dict.fromkeys(found[one] for one in sorted(own) if one in found)) for name, own in attempts.items()
    }


def environment_table(of_series: Mapping[str, Sequence[TrialEnvironment]]) -> Table | None:
    """Return a row for each thing that is recorded, a column for each series; one for all where nothing differs."""
    described = {name: describe(one.environment for one in every) for name, every in of_series.items()}
    columns = _columns(described)
    names = dict.fromkeys(name for one in columns.values() for name, values in one.rows.items() if values)
    rows = [(localized(name), *(_shown(one.rows[name]) or NOT_RECORDED for one in columns.values())) for name in names]
    return Table(gettext("Environment"), ("", *columns), tuple(rows)) if rows else None


def _shown(values: Sequence[str]) -> str:
    return " / ".join(map(localized, values))


def settings_table(of_series: Mapping[str, Sequence[TrialEnvironment]]) -> Table | None:
    """Return the settings that differ from the build's defaults, a column for each series."""
    columns = _columns({name: describe(one.environment for one in every) for name, every in of_series.items()})
    names = sorted({name for one in columns.values() for name in one.settings})
    rows = [(name, *(_setting(one, name) for one in columns.values())) for name in names]
    caption = gettext("Settings that differ from the defaults of the build")
    return Table(caption, (gettext("setting"), *columns), tuple(rows)) if rows else None


def _setting(described: Described, name: str) -> str:
    """'default' only where the trials' settings are recorded, and this one is not among what differs."""
    values = [value or DEFAULT for value in described.settings.get(name, (DEFAULT,) if described.all_settings else ())]
    return _shown([*values, *(() if described.all_settings else (NOT_RECORDED,))])


def _columns(described: Mapping[str, Described]) -> Mapping[str, Described]:
    """Return one column where all have the same."""
    every = list(described.values())
    alike = len(every) > 1 and all((one.rows, one.settings) == (every[0].rows, every[0].settings) for one in every)
    if alike:
        return {pgettext("column of all series", "all"): every[0]}
    return {name or gettext("value"): one for name, one in described.items()}


def environment_words(of_series: Mapping[str, Sequence[TrialEnvironment]]) -> str:
    """Return hardware, versions and settings as sentences of a caption; '' where nothing is recorded."""
    whole = describe(one.environment for every in of_series.values() for one in every)
    if not whole.recorded:
        return ""
    machine = [_shown(whole.rows[name]) for name in _SHORT if whole.rows[name]]
    versions = [f"PostgreSQL {joined(whole.rows['PostgreSQL'])}"] if whole.rows["PostgreSQL"] else []
    parts = localized(SEMICOLON).join(machine), *versions, _settings_words(whole)
    return sentences(gettext("{parts}.").format(parts=text) for text in parts if text)


def _settings_words(whole: Described) -> str:
    shown = [f"{name} {_setting(whole, name)}" for name in list(whole.settings)[:_MOST_SETTINGS]]
    if more := len(whole.settings) - len(shown):
        shown.append(gettext("and {n} more settings").format(n=more))
    return joined(shown)
