"""How numbers, times and states are written on pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import orjson
from django import template
from django.http import HttpRequest
from django.urls import reverse
from django.utils.dateformat import format as date_format
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext, pgettext, pgettext_lazy

from results.domain import failure_cause
from results.domain.kinds.parameter_names import parameter_level, parameter_name
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.statistics.verdict import Kind, Verdict
from results.domain.units import format_quantity
from results.models.audit import Scope
from results.models.reports import Written
from results.queries.shared.ordering import DEFAULT, VERSIONS
from results.queries.shared.words import level_text
from results.queries.trends.progress import CellProgress
from results.queries.trends.watches import WorseCell
from webapp import menu
from webapp.access import allows, scope_of
from webapp.language import active_language, joined

register = template.Library()
register.filter("parameter_name", parameter_name)
register.filter("localized", localized)  # before a filter that takes any text for plain English
_NO_NAMES = frozenset(
    {"true", "false", "on", "off", "yes", "no", "none"}
)  # levels that say nothing without their factor
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_DURATIONS = {  # by the units that they have
    ("d",): _("{d} d"),
    ("d", "h"): _("{d} d {h} h"),
    ("h",): _("{h} h"),
    ("h", "min"): _("{h} h {min} min"),
    ("min",): _("{min} min"),
    ("min", "s"): _("{min} min {s} s"),
    ("s",): _("{s} s"),
}
_MINUTE = "%Y-%m-%d %H:%M"
_STATES = {  # of runs, trials and attempts; what runs count for; of agents and the clusters on them
    "scheduled": pgettext_lazy("state", "scheduled"),
    "running": pgettext_lazy("state", "running"),
    "finished": pgettext_lazy("state", "finished"),
    "failed": pgettext_lazy("state", "failed"),
    "cancelled": pgettext_lazy("state", "cancelled"),
    "waiting": pgettext_lazy("state", "waiting"),
    "done": pgettext_lazy("state", "done"),
    "lost": pgettext_lazy("state", "lost"),
    "exploratory": pgettext_lazy("state", "exploratory"),
    "kept": pgettext_lazy("state", "kept"),
    "excluded": pgettext_lazy("state", "excluded"),
    "unknown-key": pgettext_lazy("state", "unknown-key"),
    "changed-key": pgettext_lazy("state", "changed-key"),
    "unreachable": pgettext_lazy("state", "unreachable"),
    "ready": pgettext_lazy("state", "ready"),
    "whole": pgettext_lazy("state", "whole"),
    "unfinished": pgettext_lazy("state", "unfinished"),
    "removing": pgettext_lazy("state", "removing"),
    "remains": pgettext_lazy("state", "remains"),
    "foreign": pgettext_lazy("state", "foreign"),
}
_PHASES = {
    "prepare": pgettext_lazy("phase", "prepare"),
    "load": pgettext_lazy("phase", "load"),
    "warm": pgettext_lazy("phase", "warm"),
    "verify": pgettext_lazy("phase", "verify"),
    "watch": pgettext_lazy("phase", "watch"),
    "measure": pgettext_lazy("phase", "measure"),
    "collect": pgettext_lazy("phase", "collect"),
    "audit": pgettext_lazy("phase", "audit"),
    "clean": pgettext_lazy("phase", "clean"),
}
_ANSWERS = {
    "yes": pgettext_lazy("answer of a capability check", "yes"),
    "partly": pgettext_lazy("answer of a capability check", "partly"),
    "chose-not-to": pgettext_lazy("answer of a capability check", "chose not to"),
    "fails-differently": pgettext_lazy("answer of a capability check", "fails differently"),
    "cannot": pgettext_lazy("answer of a capability check", "cannot"),
    "unknown": pgettext_lazy("answer of a capability check", "unknown"),
}


@register.filter
def figure_script(figure: Mapping[str, Any], element_id: str) -> SafeString:
    """The figure as a script of JSON, as `json_script` has it, which takes 70 times as long."""
    text = orjson.dumps(figure, default=str).decode()
    for character in "&<>":
        text = text.replace(character, f"\\u{ord(character):04X}")
    return format_html('<script id="{}" type="application/json">{}</script>', element_id, mark_safe(text))  # noqa: S308


@register.filter
def quantity(value: float | None, unit: str) -> str:
    """A value of a base unit with its unit: 8123.4|quantity:'us' → '8.123 ms'."""
    return format_quantity(value, unit)


@register.filter
def cause(error: Mapping[str, Any] | None) -> str:
    """The one line of an error that says why."""
    return failure_cause.cause(error)


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds for reading, in the two largest units: 7440 → '2 h 4 min', 42 → '42 s', 0.3 → '0.3 s'."""
    if seconds is None:
        return "–"
    if abs(seconds) < 10:
        return localized(_DURATIONS["s",]).format(s=f"{seconds:.1f}".removesuffix(".0"))
    whole = round(seconds)
    parts: dict[str, int] = {}
    for size, name in _UNITS:
        count, whole = divmod(whole, size)
        if count and len(parts) < 2:
            parts[name] = count
        elif parts:
            break
    return localized(_DURATIONS[tuple(parts)]).format(**parts)


@register.filter
def ratio(value: float | None) -> str:
    """×0.928; four digits below 10, so that no two verdicts look alike."""
    return "" if value is None else f"×{value:.3f}" if value < 10 else f"×{value:,.1f}"


@register.filter
def decimals(value: float) -> str:
    """Three, as ratios have; small numbers keep two digits."""
    return f"{value:.3f}" if value >= 0.01 else f"{value:.2g}"


@register.filter
def worse_words(cell: WorseCell | CellProgress) -> str:
    """Of what an alert names, or changed lately: 'clients 4: worse ×0.901 (95 % interval ×0.890 to ×0.911)'."""
    parts = []
    if cell.kind in (Kind.WORSE, Kind.BETTER, Kind.LOWER, Kind.HIGHER):
        known = cell.low is not None and cell.high is not None
        # xgettext:no-python-format
        with_interval = gettext("{verdict} {ratio} (95 % interval {low} to {high})")
        text = with_interval if known else gettext("{verdict} {ratio}")
        numbers = {"ratio": ratio(cell.ratio), "low": ratio(cell.low), "high": ratio(cell.high)}
        parts.append(text.format(verdict=localized(cell.words), **numbers).strip())
    if cell.since is not None:
        parts.append(gettext("on a worse level since run {run}").format(run=cell.since))
    what = pgettext("between what is said of one configuration", "; ").join(parts)
    return pgettext("what is said of a configuration", "{configuration}: {what}").format(
        configuration=cell.name, what=what
    )


@register.filter
def verdict_words(kind: str) -> str:
    return localized(Kind(kind).words)


@register.filter
def answer_words(outcome: str) -> str:
    """Of a capability check: 'chose-not-to' → 'chose not to'."""
    return str(_ANSWERS.get(outcome) or outcome.replace("-", " "))


@register.filter
def state_words(state: str) -> str:
    """Of a run, trial, attempt, agent or cluster, and of what a run counts for; any other text is left as it is."""
    text = _STATES.get(state)
    return state if text is None else str(text)


@register.filter
def phase_words(phase: str) -> str:
    """Of an attempt; a text that is no phase is left as it is."""
    text = _PHASES.get(phase)
    return phase if text is None else str(text)


@register.filter
def interval(verdict: Verdict) -> str:
    """What a verdict rests on, in words: 'ratio of geometric means ×0.928, 95 % interval 0.915 … 0.941, n = 5
    and 5'."""
    if verdict.ratio is None:
        text = gettext("n = {n} and {n_base}")
    elif verdict.low is None or verdict.high is None:
        text = gettext("ratio {ratio:.4g}, n = {n} and {n_base}")
    else:
        text = gettext(
            # xgettext:no-python-format
            "ratio of geometric means ×{ratio:.4g}, 95 % interval {low:.4g} … {high:.4g}, n = {n} and {n_base}"
        )
    return text.format(ratio=verdict.ratio, low=verdict.low, high=verdict.high, n=verdict.n, n_base=verdict.n_base)


@register.filter
def with_outliers(replicates: int, outliers: int) -> str:
    """How many replicates, and how many of them are outliers: 'n=6', 'n=6, 1 outlier'."""
    if not outliers:
        return f"n={replicates}"
    text = ngettext("n={replicates}, {n:,} outlier", "n={replicates}, {n:,} outliers", outliers)
    return text.format(replicates=replicates, n=outliers)


@register.filter
def percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


@register.filter
def points(difference: float) -> str:
    """A difference of two percentages: '+1.2', '−0.3'."""
    return f"{difference:+.1f}".replace("-", "−")


@register.filter
def at(mapping: Mapping[Any, Any], key: Any) -> Any:
    """The value of a key that is only known while rendering; '' where there is none."""
    return mapping.get(key, "")


@register.filter
def reader_title(written: Written) -> str:
    """The title of a report in the reader's language, where it is written in that."""
    return written.title_in(active_language())


@register.filter
def reader_language(written: Written) -> str:
    """The language of that title, as HTML names it."""
    return written.language_for(active_language())


@register.filter
def pairs(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """A mapping's keys and values. A template's own `.items` would be the value of a key of that name, such as the
    number of a workload's items."""
    return list(mapping.items())


@register.filter
def parameter_names(names: Sequence[str]) -> str:
    return joined(localized(parameter_name(name)) for name in names)


@register.filter
def configuration(levels: Mapping[str, str]) -> str:
    """A configuration in words: {'installation': '16', 'script': 'select-only', 'clients': '4'} →
    '16 · select-only · clients 4'. A bare number needs its factor's name; a version does not. What is not set is left
    out, unless nothing is."""
    own = {factor: level for factor, level in levels.items() if level not in ("", DEFAULT)} or levels
    return " · ".join(_level(factor, level) for factor, level in own.items()) or gettext("the only configuration")


def _level(factor: str, level: str) -> str:
    if not level or (factor not in VERSIONS and not level[:1].isalpha()) or level in _NO_NAMES:
        return localized(parameter_level(factor.removeprefix("setting."), level_text(level or DEFAULT)))
    return level


@register.filter
def prefixed(value: Any, lead: str) -> str:
    """An optional clause: the value behind its lead, nothing for None and '': {{ unit|prefixed:" in " }}."""
    if value is None or value == "":
        return ""
    return f"{lead}{localized(value) if isinstance(value, str) else value}"


@register.filter
def of_what(label: str, node: str) -> str:
    """What a metric is of: 'query 1.1 on primary', or the one of both that there is."""
    if label and node:
        return gettext("{label} on {node}").format(label=label, node=node)
    return label or node


@register.filter
def shortened(values: Sequence[Any], most: int) -> str:
    """The first values of a list, and … where there are more: '1, 2, …'."""
    rest = ("…",) if len(values) > most else ()
    return joined(str(value) for value in (*values[:most], *rest))


@register.filter
def punctuation(forloop: Mapping[str, Any], marks: str) -> str:
    """What stands behind an item of a list in a sentence: the first of two marks, behind the last item the second, if
    there is one: {{ forloop|punctuation:",." }}."""
    mark = marks[1:] if forloop["last"] else marks[0]
    match mark:
        case ",":
            return pgettext("behind an item of a sentence", ",")
        case ";":
            return pgettext("behind an item of a sentence", ";")
        case ":":
            return pgettext("behind an item of a sentence", ":")
        case ".":
            return pgettext("behind an item of a sentence", ".")
    return mark


@register.filter
def words(text: str) -> list[str]:
    return text.split()


@register.filter
def spaced(name: str) -> str:
    """A key as words: 'free_bytes' → 'free'."""
    return name.removesuffix("_bytes").replace("_", " ")


@register.filter
def breakable(name: str) -> SafeString:
    """A long dotted or underscored key that may break behind its parts: sysctl.<wbr>vm.<wbr>dirty_<wbr>ratio."""
    # A constant.
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in re.findall(r"[^._]*[._]*", name) if part))


@register.filter
def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    return (end - start).total_seconds() if start and end else None


@register.filter
def shown(value: Any) -> str:
    """A value of a layer or setting on one line."""
    if isinstance(value, bool):
        return pgettext("a value", "yes") if value else pgettext("a value", "no")
    if isinstance(value, (list, tuple)):
        return joined(shown(item) for item in value)
    if isinstance(value, Mapping):
        return joined(f"{key} {shown(item)}" for key, item in value.items())
    if value is None:
        return "–"
    return localized(value) if isinstance(value, str) else str(value)


@register.filter
def local_path(address: str | None, request: HttpRequest) -> str:
    """The path of an address of this site, else the overview's."""
    parts = urlsplit(address or "")
    return (parts.path or "/") if parts.netloc == request.get_host() else reverse("overview")


@register.simple_tag
def moment(value: datetime | None, form: str = _MINUTE) -> SafeString | str:
    """A time (UTC) as <time>, exact on hover. A day of the week (%a) is in the reader's language."""
    if value is None:
        return "–"
    exact = value.isoformat(" ", "seconds")[:19]
    if form == _MINUTE:
        shown = exact[:16]
    else:
        day = form.replace("%a", date_format(value, "D")) if "%a" in form else form
        shown = escape(value.strftime(day))
    return mark_safe(f'<time datetime="{value.isoformat()}" title="{exact} UTC">{shown}</time>')  # noqa: S308


@register.filter
def may(user: Any, scope: str) -> bool:
    """Whether the visitor has this scope; nobody has, where nobody was asked who reads."""
    return bool(user) and allows(scope_of(user), Scope(scope))


def _reader(user: Any) -> menu.Reader:
    if not getattr(user, "is_authenticated", False):
        return menu.Reader.ANYONE
    if may(user, Scope.ADMIN):
        return menu.Reader.ADMINISTRATOR
    return menu.Reader.OPERATOR if may(user, Scope.RUN) else menu.Reader.MEMBER


@register.inclusion_tag("parts/_navigation.html", takes_context=True)
def navigation(context: Mapping[str, Any], path: str, user: Any) -> dict[str, Any]:
    """The bar's links and the menu of all pages that the user may open; the one whose pages we are in is marked.

    user: '' on pages that were made without asking who reads."""
    in_bar = menu.nearest(path, menu.bar())
    return {
        "request": context["request"],
        "links": [(entry, entry == in_bar) for entry in menu.bar()],
        "groups": menu.groups(_reader(user)),
        "reader_name": user.get_username() if getattr(user, "is_authenticated", False) else "",
        "current": menu.nearest(path, menu.entries()),
    }
