"""What a trial holds that is no number: plans of queries, answers to checks, sampled stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from results import sql
from results.domain.messages import gettext_lazy as _
from results.queries.shared.ids import NotFound


@dataclass(frozen=True)
class DocumentRow:
    """See `measurement.parsed_trial.Document`."""

    kind: str
    node: str
    label: str
    content: Any


@dataclass(frozen=True)
class DocumentHead:
    """A document without its content."""

    kind: str
    node: str
    label: str


def document_heads(attempt_id: int | None) -> tuple[DocumentHead, ...]:
    """What documents an attempt has, by kind, node and label. One query."""
    return tuple(sql.rows(DocumentHead, _HEADS, {"attempt_id": attempt_id}))


def document(attempt_id: int, kind: str, label: str) -> DocumentRow:
    """One document. Raises NotFound. One query."""
    documents = [row for row in documents_of(attempt_id, kind, label) if row.label == label]
    if not documents:
        raise NotFound(_("The attempt has no {kind} {label!r}.", kind=kind, label=label))
    return documents[0]


def documents_of(attempt_id: int, kind: str = "", label: str = "") -> tuple[DocumentRow, ...]:
    """The documents of one attempt, of one kind (and label) or of all, by kind, node and label. One query."""
    return tuple(sql.rows(DocumentRow, _DOCUMENTS, {"attempt_id": attempt_id, "kind": kind, "label": label}))


_HEADS = """
SELECT kind, node, label FROM results_document WHERE attempt_id = %(attempt_id)s ORDER BY kind, node, label
"""
_DOCUMENTS = """
SELECT kind, node, label, content::json FROM results_document
WHERE attempt_id = %(attempt_id)s AND (%(kind)s = '' OR kind = %(kind)s) AND (%(label)s = '' OR label = %(label)s)
ORDER BY kind, node, label
"""
