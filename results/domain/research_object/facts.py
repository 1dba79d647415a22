"""The facts of an exported run, `run.json`: what its plan, bundles and layers do not say. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from results.domain.dataclass_json import ShapeError, from_json
from results.domain.errors import ArchiveError
from results.domain.messages import gettext_lazy as _
from results.domain.states import AttemptState, TrialState

FORMAT = 1
FACTS = "run.json"
_ENDED_TRIALS = (TrialState.DONE, TrialState.FAILED, TrialState.CANCELLED)
_BUNDLE_KEY = re.compile(r"\d{1,19}/\d{1,19}")


@dataclass(frozen=True)
class AttemptFacts:
    """One ended attempt.

    error: kind and sentence only; what its bundle says of it is read from there
    bundle: name in the archive; '' where there is none
    numbers: `results.ingest.numbers_hash` of what was stored of it; '' where nothing was
    """

    number: int
    state: AttemptState
    started_at: datetime
    ended_at: datetime | None
    error: Mapping[str, str] | None
    bundle: str
    bundle_sha256: str
    bundle_bytes: int
    numbers: str


@dataclass(frozen=True)
class TrialFacts:
    """One trial.

    configuration: index
    bundle_key: what the manifests of its bundles call it
    counted: number of the attempt whose measurements count, 0 for none
    """

    configuration: int
    block: int
    position: int
    bundle_key: str
    state: TrialState
    state_at: datetime
    attempts_made: int
    counted: int
    attempts: tuple[AttemptFacts, ...]


@dataclass(frozen=True)
class ConfigurationFacts:
    """One configuration, its place in the list its index.

    spec: `results.domain.matrix.TrialSpec.to_json()`
    """

    name: str
    levels: Mapping[str, str]
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Origin:
    """The Teiten that measured a run.

    teiten: its version, when it exported the run
    address: its TEITEN_ADDRESS; '' where it has none
    run: number of the run there
    """

    teiten: str
    address: str
    run: int


@dataclass(frozen=True)
class Facts:
    """All that is said of a run besides its plan, bundles and layers.

    teiten: version of the Teiten that exported it
    address: its TEITEN_ADDRESS; '' where it has none
    run: number of the run there
    origin: who measured it, where that is another Teiten than the one that exported it
    looks: as `results.models.Run.looks`
    """

    teiten: str
    address: str
    run: int
    blocks: int
    looks: tuple[int, ...]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    cancelled_at: datetime | None
    configurations: tuple[ConfigurationFacts, ...]
    trials: tuple[TrialFacts, ...]
    origin: Origin | None = None
    format: int = FORMAT

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents that it was measured on."""
        return tuple(sorted({str(name) for row in self.configurations for name in row.spec["agents"].values()}))

    @property
    def attempts(self) -> tuple[tuple[TrialFacts, AttemptFacts], ...]:
        return tuple((trial, attempt) for trial in self.trials for attempt in trial.attempts)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, default=datetime.isoformat) + "\n"


def bundle_name(position: int, number: int) -> str:
    """Return the name in the archive of an attempt's bundle, which sorts as the trials were run."""
    return f"bundles/{position:05}-{number}.tar.gz"


def read(text: str, version: str) -> Facts:
    """Return the facts of an exported run. Raises ArchiveError.

    version: of this Teiten
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(_("{name} is not JSON.", name=FACTS), where=FACTS, why=str(error)) from error
    _require_known_format(value, version)
    try:
        facts = from_json(Facts, value)
    except (ShapeError, RecursionError) as error:
        what = _("A field is missing or has the wrong type.")
        raise ArchiveError(what, where=FACTS, why=str(error), todo=_("Export the run again.")) from error
    _require_consistent(facts)
    return facts


def _require_known_format(value: object, version: str) -> None:
    known = value.get("format") if isinstance(value, dict) else None
    if known != FORMAT or isinstance(known, bool):
        raise ArchiveError(
            _("The archive is of format {format}; this Teiten knows format {known}.", format=repr(known), known=FORMAT),
            where=FACTS,
            why=_("A newer Teiten wrote it, or it is no exported run."),
            todo=_("Update this Teiten, or choose a file that manage.py export_run wrote."),
        )
    teiten = str(value.get("teiten", "")) if isinstance(value, dict) else ""
    if _numbers(teiten) > _numbers(version):
        raise ArchiveError(
            _("The archive was written by Teiten {teiten}; this is {version}.", teiten=teiten[:40], version=version),
            where=FACTS,
            why=_("A newer Teiten may measure what this one cannot read."),
            todo=_("Update this Teiten."),
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version)[:4])


def _require_consistent(facts: Facts) -> None:
    """Raise ArchiveError for facts that no run of Teiten has."""
    _require_whole_matrix(facts)
    for index, row in enumerate(facts.configurations):
        if not isinstance(row.spec.get("agents"), Mapping):
            raise _wrong(_("Configuration {index} has no agents.", index=index))
    for trial in facts.trials:
        where = _("The trial at position {position}", position=trial.position)
        if not (0 <= trial.configuration < len(facts.configurations) and 1 <= trial.block <= facts.blocks):
            raise _wrong(_("{trial} is of a configuration or block that there is not.", trial=where))
        _require_possible_state(trial, where)
        for attempt in trial.attempts:
            _require_possible_attempt(trial, attempt, where)


def _require_whole_matrix(facts: Facts) -> None:
    count = len(facts.trials)
    if not count or len({trial.position for trial in facts.trials}) < count:
        raise _wrong(_("Trials are missing, or two have the same position."))
    keys = {trial.bundle_key for trial in facts.trials}
    if len(keys) < count or not all(map(_BUNDLE_KEY.fullmatch, keys)):
        raise _wrong(_("Two trials have the same bundle_key, or one is not 'run/trial'."))
    slots = {(trial.configuration, trial.block) for trial in facts.trials}
    if len(slots) < count or facts.blocks * len(facts.configurations) != count:
        raise _wrong(_("It is not one trial a configuration and block."))


def _require_possible_state(trial: TrialFacts, where: str) -> None:
    if trial.state not in _ENDED_TRIALS:
        raise _wrong(_("{trial} has not ended.", trial=where))
    numbered = {attempt.number: attempt for attempt in trial.attempts}
    if len(numbered) < len(trial.attempts) or min(numbered, default=1) < 1:
        raise _wrong(_("{trial} has two attempts of one number, or one of none.", trial=where))
    counted = numbered.get(trial.counted)
    if trial.counted and counted is None:
        raise _wrong(_("{trial} counts an attempt that there is not.", trial=where))
    done = counted is not None and counted.state is AttemptState.DONE and bool(counted.numbers)
    if (trial.state is TrialState.DONE) is not done:
        raise _wrong(_("{trial} is {state}, and that does not fit its attempts.", trial=where, state=trial.state))


def _require_possible_attempt(trial: TrialFacts, attempt: AttemptFacts, where: str) -> None:
    if attempt.state is AttemptState.RUNNING:
        raise _wrong(_("{trial} has an attempt that has not ended.", trial=where))
    if attempt.bundle not in ("", bundle_name(trial.position, attempt.number)):
        raise _wrong(_("{trial} has a bundle called {name!r}.", trial=where, name=attempt.bundle[:80]))
    if attempt.numbers and not attempt.bundle:
        raise _wrong(_("{trial} has numbers without a bundle.", trial=where))


def _wrong(what: str) -> ArchiveError:
    todo = _("Export the run again; this file was changed, or written by something else.")
    return ArchiveError(what, where=FACTS, todo=todo)
