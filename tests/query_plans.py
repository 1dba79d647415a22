"""How PostgreSQL answers the queries of a page: what it scans as a whole, and what it sorts on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

GROWING = frozenset(f"results_{name}" for name in ("trial", "attempt", "measurement", "document", "configuration"))
"""Tables whose rows grow with the trials."""


@dataclass(frozen=True)
class Fault:
    """A part of a plan that takes longer the larger the warehouse is.

    what: 'scans results_trial' or 'sorts on disk'
    query: the beginning of the query"""

    what: str
    query: str


def faults(ask: Callable[[], object]) -> list[Fault]:
    """Return what is wrong with the plans of the SELECTs that something asks. Each is run once more."""
    with CaptureQueriesContext(connection) as captured:
        ask()
    queries = [one["sql"] for one in captured.captured_queries]
    found = []
    for query in (query for query in queries if query.lstrip().startswith(("SELECT", "WITH", "--"))):
        found += [Fault(what, " ".join(query.split())[:300]) for what in _faults_of(plan_of(query))]
    return found


def plan_of(query: str) -> Mapping[str, Any]:
    """Return the plan of a query with its literals, as it was run."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}")
        plan = cursor.fetchone()[0]
    return (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def _faults_of(plan: Mapping[str, Any]) -> Iterator[str]:
    for node in nodes(plan):
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in GROWING and node["Actual Loops"]:
            yield f"scans {node['Relation Name']}"
        if node.get("Sort Space Type") == "Disk" or node.get("Hash Batches", 1) > 1:
            yield "sorts or hashes on disk"
