"""The runs to choose from on the page of a comparison. A function, and no template: it is some dozens of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django import template
from django.template.loader import render_to_string
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from results.queries.runs.runs import RunRow
from webapp.links import run_url
from webapp.templatetags.teiten import moment, state_words

register = template.Library()


@register.simple_tag
def run_choices(runs: Iterable[RunRow], chosen: Collection[int]) -> SafeString:
    """A row of the table for each run, with a box that is ticked where the run is chosen."""
    label, done = gettext("Run %(id)s, %(name)s"), gettext('%(done)s <span class="faint">of %(total)s</span>')
    return mark_safe("".join(_row(run, run.id in chosen, label, done, run_url(run.id)) for run in runs))  # noqa: S308


def _row(run: RunRow, chosen: bool, label: str, done: str, address: str) -> str:
    """Return the row of a run.

    label: what its box is called, for its number and name.
    done: how many of its trials are done, for these and all of them."""
    name = conditional_escape(run.name)
    published = render_to_string("parts/_published.html", {"publication": run.publication}) if run.publication else ""
    return (
        f'<tr><td><input type="checkbox" name="run" value="{run.id}" id="run-{run.id}"'
        f' aria-label="{label % {"id": run.id, "name": name}}"{" checked" if chosen else ""}></td>'
        f'<td class="num"><label for="run-{run.id}">{run.id}</label></td>'
        f'<th scope="row" class="wide"><a href="{address}">{name}</a> '
        f'<small class="faint">{escape(run.workload)}</small> {published}</th>'
        f'<td><span class="badge {escape(run.state)}">{escape(state_words(run.state))}</span></td>'
        f'<td class="num">{done % {"done": run.trials_done, "total": run.trials_total}}</td>'
        f'<td class="nowrap">{moment(run.started_at)}</td></tr>'
    )
