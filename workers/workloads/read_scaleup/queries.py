"""The scripts of the variants, and the questions about how the server will run their queries. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from results.domain.errors import VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.measurement.parsed_trial import Check
from results.domain.measurement.query_plans import read_plan
from results.domain.messages import gettext_lazy as _
from workers.pgbench.parameters import ACCOUNTS_PER_SCALE

from .spec import COUNT, INDEX, INDEX_ONLY, SELECT_ONLY

_HERE = Path(__file__).parent
SCRIPTS = {
    COUNT: (_HERE / "count.sql").read_text(),
    SELECT_ONLY: (_HERE / "select_only.sql").read_text(),
    INDEX_ONLY: (_HERE / "count.sql").read_text(),
}
_VARIABLE = re.compile(r":(\w+)")
_UNTIL_SETTLED = 6  # a prepared statement's plan may become generic with the sixth execution


def check_range(parameters: Mapping[str, Scalar]) -> None:
    """Raises VerifyError when the range is longer than the table."""
    accounts = int(parameters["scale"]) * ACCOUNTS_PER_SCALE
    if parameters["variant"] != SELECT_ONLY and int(parameters["row_count"]) >= accounts:
        raise VerifyError(
            _(
                "A range of {range} rows does not fit into {accounts} accounts.",
                range=parameters["row_count"],
                accounts=accounts,
            ),
            where="parameters.row_count",
            todo=_("Choose a shorter range or a larger scale."),
        )


def explain_script(variant: str, protocol: str) -> str:
    """psql's input that has the server explain the very query of the variant, of which it is to be given the variables
    `aid` and `aid_last`. Under the protocol `prepared`, as a session that goes on with the prepared statement."""
    query = SCRIPTS[variant].strip().splitlines()[-1]
    if protocol != "prepared":
        return f"EXPLAIN (FORMAT JSON) {query}\n"
    names = _VARIABLE.findall(query)
    numbering = iter(range(1, len(names) + 1))
    prepared = _VARIABLE.sub(lambda _: f"${next(numbering)}", query)
    execute = f"EXECUTE measured ({', '.join(f':{name}' for name in names)})"
    return f"PREPARE measured AS {prepared}\n" + (
        f"{execute} \\g /dev/null\n" * _UNTIL_SETTLED + f"EXPLAIN (FORMAT JSON) {execute};\n"
    )


def check_plan(content: object) -> Check:
    """Return whether nothing but the index (aid, abalance) is read.

    content: the answer of EXPLAIN (FORMAT JSON)."""
    expected = f"Index Only Scan using {INDEX} on pgbench_accounts"
    scans = [line.title for line in read_plan(content).lines if line.title.endswith(" on pgbench_accounts")]
    passed = bool(scans) and all(scan.removeprefix("Parallel ") == expected for scan in scans)
    actual = ", ".join(scans) or _("no scan of pgbench_accounts")
    return Check("read_scaleup.plan", "primary", expected, actual, passed)


def check_pages(pages: int, all_visible: int) -> Check:
    """Return whether the visibility map spares every visit to the table."""
    passed = pages > 0 and all_visible == pages
    actual = _("{visible} of {pages} pages", visible=all_visible, pages=pages)
    return Check("read_scaleup.all_visible", "primary", _("all of {pages} pages", pages=pages), actual, passed)
