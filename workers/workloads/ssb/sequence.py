"""Which queries a client runs, and in what order. Pure."""

from __future__ import annotations

import random
from collections.abc import Mapping

from results.domain.kinds.parameters import Scalar

QUERIES = (
    "q1.1",
    "q1.2",
    "q1.3",
    "q2.1",
    "q2.2",
    "q2.3",
    "q3.1",
    "q3.2",
    "q3.3",
    "q3.4",
    "q4.1",
    "q4.2",
    "q4.3",
)
ALL = "all"
IN_ORDER, SHUFFLED = "in order", "shuffled"


def selected_queries(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """The queries of one pass, each once, as the parameter `queries` lists them."""
    words = str(parameters["queries"])
    return QUERIES if words == ALL else tuple(dict.fromkeys(word.strip() for word in words.split(",")))


def sequence(parameters: Mapping[str, Scalar], client: int, passes: int) -> list[tuple[int, str]]:
    """Return (pass, query) in the order in which this client runs them, both from 1.

    Shuffled orders differ by client and pass, and are the same for the same `order_seed`.
    """
    queries = selected_queries(parameters)
    executions = []
    for number in range(1, passes + 1):
        order = list(queries)
        if parameters["order"] == SHUFFLED:
            # The seed is the plan's: anybody can draw the same order again.
            random.Random(f"{parameters['order_seed']}/{client}/{number}").shuffle(order)  # noqa: S311
        executions += [(number, query) for query in order]
    return executions


def counts_workers(parameters: Mapping[str, Scalar]) -> bool:
    """Tell whether workers are counted: only with plans to check the counts against."""
    return bool(parameters["count_workers"] and parameters["explain"])


def counted_apart(parameters: Mapping[str, Scalar]) -> bool:
    """Tell whether a pass of all clients counts the workers: a single client gets those of its plans."""
    return counts_workers(parameters) and int(parameters["clients"]) > 1
