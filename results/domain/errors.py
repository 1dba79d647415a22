"""The one family of errors. Each says what went wrong, where, why, and what to do next.

Pages, API and terminal show the same four sentences.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from results.domain.messages import BLANK, linked
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end, masked_text
from results.domain.stored_texts import made_of, with_texts

_SENTENCES = ("what", "where", "why", "todo")  # of an error, that are shown in the reader's language


class TeitenError(Exception):
    """Something a user can act on.

    what: the fact, one sentence.
    where: field, phase, agent or file.
    why: the cause as far as known (often the tool's own words).
    todo: the next step.
    retryable: whether the same attempt may succeed later."""

    kind = "error"
    retryable = False

    def __init__(
        self, what: str, *, where: str = "", why: str = "", todo: str = "", retryable: bool | None = None
    ) -> None:
        super().__init__(what)
        self.what, self.where, self.why, self.todo = what, where, why, todo
        if retryable is not None:
            self.retryable = retryable

    def __str__(self) -> str:
        return masked_text(self.words)

    @property
    def words(self) -> str:
        """All that the error says, as one message; without secrets."""
        sentences = restored(TeitenError.as_dict(self))
        where, what = sentences["where"], sentences["what"]
        head = _("{where}: {what}", where=where, what=what) if where else what
        return linked(BLANK, filter(None, (head, sentences["why"], sentences["todo"])))

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON-ready fields, the one shape of pages, API and manifest; without secrets.

        In English. `restored` makes messages of it again, which are shown in the reader's language."""
        return {
            "kind": self.kind,
            "what": masked_text(self.what),
            "where": self.where,
            "why": masked_text(self.why),
            "todo": self.todo,
            "retryable": self.retryable,
        } | _messages_of(self)


def _messages_of(error: TeitenError | Problem) -> dict[str, Any]:
    """Return the messages with values among an error's sentences, as they are stored; {} for none."""
    return made_of({name: getattr(error, name, "") for name in _SENTENCES})


def restored(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return `TeitenError.as_dict()` with messages for its sentences, which are shown in the reader's language.

    A sentence without values is its own id. One that was changed since it was made, or whose message others damaged, as
    in a bundle, stays as it is.
    """
    fields = with_texts(error, _SENTENCES)
    problems = fields.get("problems")
    if isinstance(problems, list | tuple):
        fields["problems"] = [restored(one) if isinstance(one, Mapping) else one for one in problems]
    return fields


class PlanError(TeitenError):
    """A plan that cannot be run. Holds every problem found, not only the first."""

    kind = "plan"

    def __init__(self, problems: list[Problem] | tuple[Problem, ...]) -> None:
        self.problems = tuple(problems)
        first, more = self.problems[0], len(self.problems) - 1
        what = _("{problem} (and {count} more)", problem=first.what, count=more) if more else first.what
        super().__init__(what, where=first.field, todo=first.todo)

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {"problems": [problem.as_dict() for problem in self.problems]}


class CodeError(PlanError):
    """A plan with code of its own, of somebody who may not bring any to its agents."""

    kind = "access"


class DefinitionError(PlanError):
    """A host factor that cannot be defined so. Holds every problem found."""

    kind = "definition"


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a plan: the field (dotted, as in the TOML), what is wrong, what to do."""

    field: str
    what: str
    todo: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {"field": self.field, "what": masked_text(self.what), "todo": self.todo} | _messages_of(self)


class AgentError(TeitenError):
    """An agent that cannot be reached or used."""

    kind = "agent"


class UnreachableError(AgentError):
    """Found out before anything ran: no connection to an agent.

    agent: its name.
    cause: why, unchanged."""

    kind = "unreachable"

    def __init__(self, agent: str, cause: AgentError) -> None:
        super().__init__(cause.what, where=cause.where, why=cause.why, todo=cause.todo, retryable=cause.retryable)
        self.agent, self.cause = agent, cause

    def as_dict(self) -> dict[str, Any]:
        return self.cause.as_dict() | {"agent": self.agent, "unreachable": True}


class HostKeyError(AgentError):
    """The agent's host key is unknown or has changed. Never retried: a person must look."""

    kind = "host-key"

    def __init__(self, what: str, *, fingerprint: str = "", **rest: Any) -> None:
        super().__init__(what, **rest)
        self.fingerprint = fingerprint

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {"fingerprint": self.fingerprint}


class DeadlineError(TeitenError):
    """A phase of a trial that did not end by its deadline."""

    kind = "deadline"


class CommandError(AgentError):
    """A command on an agent that failed: carries command, exit status and output unchanged."""

    kind = "command"

    def __init__(
        self,
        what: str,
        *,
        command: str,
        exit_status: int | None,
        stdout: str = "",
        stderr: str = "",
        host: str = "",
        **rest: Any,
    ) -> None:
        super().__init__(what, where=rest.pop("where", host), why=rest.pop("why", masked_end(stderr or stdout)), **rest)
        self.command, self.exit_status = command, exit_status
        self.stdout, self.stderr, self.host = stdout, stderr, host

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | {
            "command": masked_text(self.command),
            "exit_status": self.exit_status,
            "stdout": masked_end(self.stdout, 4000),
            "stderr": masked_end(self.stderr, 4000),
            "host": self.host,
        }


class TrialError(TeitenError):
    """A trial that failed in a known phase. `where` is the phase."""

    kind = "trial"


class VerifyError(TrialError):
    """Something did not hold before the clock started (docs/adr/0009)."""

    kind = "verify"


class ParseError(TeitenError):
    """A raw file that does not say what it should: file, line number and the offending text."""

    kind = "parse"

    def __init__(self, what: str, *, file: str = "", line: int = 0, text: str = "") -> None:
        where = f"{file}:{line}" if line else file
        super().__init__(what, where=where, why=repr(masked_text(text)[:200]) if text else "")
        self.file, self.line, self.text = file, line, text


def is_full(error: BaseException) -> bool:
    """Return whether the error says that the disk of the bundle folder, or an account's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def full_error(error: BaseException) -> TrialError:
    """Return the error of a trial whose files found no room in the bundle folder: the same trial may, later."""
    return TrialError(
        _("The disk of the bundle folder is full."),
        where="worker",
        why=str(error),
        todo=_("Free space there, as with manage.py prune_bundles, or move TEITEN_BUNDLE_DIR to a larger disk."),
        retryable=True,
    )


@contextmanager
def damaged(what: str, file: str, text: str = "") -> Iterator[None]:
    """Raise ParseError where the content of a file is of another shape than is taken for granted below, such as a text
    in the place of a number, or a number too large to reckon with.

    what: 'not the sizes of tables'
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise ParseError(
            _("{what}: {error}", what=what, error=f"{type(error).__name__}: {masked_text(str(error))[:200]}"),
            file=file,
            text=text,
        ) from error


class ImportedFileError(TeitenError):
    """A file of another program that cannot be imported. `where` is the file, with its line or cell."""

    kind = "import"


class IngestError(TeitenError):
    """A bundle that cannot be stored."""

    kind = "ingest"


class ArchiveError(TeitenError):
    """An exported run that cannot be imported. `where` is the file in it, or what it is called itself."""

    kind = "archive"


class BackupError(TeitenError):
    """A backup that cannot be written, is not whole, or cannot be restored here. Commands alone meet it."""


class BodyError(TeitenError):
    """A request whose body, or what is packed in it, is too large, or which does not say how long it is."""

    kind = "body"


class StateError(TeitenError):
    """A verb that the present state of a run or trial does not allow."""

    kind = "state"


class AwayError(TeitenError):
    """A part of Teiten itself, such as the warehouse, does not answer. What was asked for may be asked for again."""

    kind = "away"
    retryable = True


class BusyError(TeitenError):
    """Others wait for the same already."""

    kind = "busy"
    retryable = True
