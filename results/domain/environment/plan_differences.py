"""What two sides' plans have otherwise, judged by the table that layers are judged by. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from results.domain.environment.difference import KeyJudgement
from results.domain.environment.rules import (
    ALWAYS_APART,
    DEFAULT_IF_ABSENT,
    PLACEMENT,
    PLAN,
    TOLD_BY_LAYERS,
    Cause,
    follows_from,
    matches,
    rule_of,
)
from results.domain.environment.values import normal
from results.domain.messages import gettext_lazy as _

Dimensions = Mapping[str, str]  # dimension → level, of one configuration
_RUN = "run"
_ROLE = "agent."
_WHY = _("The plan has it otherwise on the two sides.")
_PLACED = _("The client shares a machine with a server on one side only, or other servers share one.")
_ABSENT = _("Only one side's plan says it: the other's workload has no such parameter, or had none then.")


def judge_plans(
    left: Sequence[Dimensions],
    right: Sequence[Dimensions],
    intended: Collection[str],
    *,
    layers: bool,
    but: Collection[str] = (),
) -> tuple[KeyJudgement, ...]:
    """Return a judgement of each dimension that differs between the configurations of the two sides and is not meant
    to.

    intended: dimensions that are meant to differ.
    layers: what both sides ran in is recorded, so that it need not be read of the plans.
    but: factors that are no more than what they set."""
    different = _differing(left, right)
    names = sorted(name for name in different - {_RUN, *but} if not (layers and matches(name, TOLD_BY_LAYERS)))
    judged = [_judgement(name, left, right, intended) for name in names]
    if any(name.startswith(_ROLE) for name in different):
        judged.append(_placement(left, right, intended))
    return tuple(one for one in judged if one is not None)


def _differing(left: Sequence[Dimensions], right: Sequence[Dimensions]) -> set[str]:
    first = left[0] if left else {}
    different: set[str] = set()
    for other in (*left[1:], *right):
        if other is not first:
            different.update(name for name, level in other.items() if first.get(name) != level)
            different.update(first.keys() - other.keys())
    return different


def _judgement(
    name: str, left: Sequence[Dimensions], right: Sequence[Dimensions], intended: Collection[str]
) -> KeyJudgement | None:
    one, other = (tuple(dict.fromkeys(side.get(name) for side in sides)) for sides in (left, right))
    forms = [{normal(text) for text in side} for side in (one, other)]
    if forms[0] == forms[1] and len(forms[0]) == 1:
        return None
    if name in ALWAYS_APART and forms[0] != forms[1]:
        return KeyJudgement("", PLAN, name, one, other, Cause.CONFOUNDER, ALWAYS_APART[name], True)
    if follows_from("", PLAN, name, intended):
        return None
    if forms[0] == forms[1]:
        return KeyJudgement("", PLAN, name, one, other, Cause.ALIKE, _("Varies on both sides alike."))
    return _unintended(name, one, other)


def _unintended(name: str, one: tuple[str | None, ...], other: tuple[str | None, ...]) -> KeyJudgement:
    if rule := rule_of("", PLAN, name):
        return KeyJudgement("", PLAN, name, one, other, rule.cause, rule.why)
    if None in (*one, *other) and not matches(name, DEFAULT_IF_ABSENT):
        return KeyJudgement("", PLAN, name, one, other, Cause.UNRECORDED, _ABSENT, True)
    return KeyJudgement("", PLAN, name, one, other, Cause.CONFOUNDER, _WHY, True)


def _placement(
    left: Sequence[Dimensions], right: Sequence[Dimensions], intended: Collection[str]
) -> KeyJudgement | None:
    """Return the judgement of which roles share a machine, where that differs."""
    one, other = (tuple(dict.fromkeys(map(_shared, sides))) for sides in (left, right))
    if set(one) == set(other) or "topology" in intended or any(name.startswith(_ROLE) for name in intended):
        return None
    return KeyJudgement("", PLAN, PLACEMENT, one, other, Cause.CONFOUNDER, _PLACED, True)


def _shared(side: Dimensions) -> str:
    """Return 'client + primary' of roles on one machine; several such machines with commas between them."""
    roles: dict[str, list[str]] = {}
    for name, agent in sorted(side.items()):
        if name.startswith(_ROLE):
            roles.setdefault(agent, []).append(name.removeprefix(_ROLE))
    return ", ".join(sorted(" + ".join(several) for several in roles.values() if len(several) > 1))
