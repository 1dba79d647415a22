"""An article on ZFS's cache and PostgreSQL's: which of the two should have the memory. Pure."""

from __future__ import annotations

from statistics import fmean, median

from results.published.tables import Derived, Figure, PublishedTrial, Remark, Report, Row, Table, postgres, rows

REPORT = Report("PostgreSQL's shared_buffers and the cache of ZFS", "A personal blog (Japanese)", 2019, "not stated")
_SLUG = "zfs-arc-2019"
# printed below the columns of the article's tables, by pattern
_MEANS = {"128K": "577 627 812 804", "8K": "679 661 664 684", "16K": "639 627 667 684"}
_MEDIANS = {"128K": "586 656 788 794", "8K": "686 674 678 689", "16K": "667 612 682 683"}


def _trial(row: Row) -> PublishedTrial:
    levels = {name: row[name] for name in ("recordsize", "shared_buffers", "primarycache")}
    return PublishedTrial(
        {f"setting.{name}" if name == "shared_buffers" else f"zfs.{name}": text for name, text in levels.items()},
        (Figure("tps", row.number("tps"), row.line, "tps"),),
        more={"pattern": row["pattern"]},
    )


def _derived() -> tuple[Derived, ...]:
    found = rows(_SLUG)
    return tuple(
        Derived(0, "tps", f"{name} of pattern {place}, recordsize {size}", text, of(values))
        for name, printed, of in (("mean", _MEANS, fmean), ("median", _MEDIANS, median))
        for size, texts in printed.items()
        for place, text in enumerate(texts.split(), 1)
        for values in ([r.number("tps") for r in found if (r["recordsize"], r["pattern"]) == (size, str(place))],)
    )


TABLES = (
    Table(
        _SLUG, REPORT, "Three tables", "TPC-B-like on ZFS by recordsize, primarycache and shared_buffers", "pgbench",
        "tps",
        {
            **postgres("11.1"), "topology": "single", "script": "tpcb-like", "scale": 100, "clients": 2, "threads": 2,
            "duration_s": 60, "zfs": "0.7.12",
        },
        tuple(_trial(row) for row in rows(_SLUG)), _derived(),
        notes=(Remark("The five runs of a configuration followed each other after one restart: they are no blocks."),),
    ),
)  # fmt: skip
