"""python -m bootstrap services -- python -m bench [PART …] [--rounds N] [--seconds S]"""

from __future__ import annotations

import argparse
import os
import sys

import django
from rich.console import Console
from rich.table import Table


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    from bench import (
        aa,
        aa_runs,
        cascade,
        cascade_load,
        changepoint,
        comparison,
        dispatch,
        explorer,
        export,
        fidelity,
        fleet,
        fold,
        growth,
        ingest,
        large_run,
        look,
        overhead,
        scale,
        ssb,
        ssb_workers,
        storage,
        tpcc_load,
        verdicts,
        web,
    )
    from bench.figures import Figure

    parts = {
        "comparison": comparison,
        "dispatch": dispatch,
        "explorer": explorer,
        "export": export,
        "fidelity": fidelity,
        "fleet": fleet,
        "overhead": overhead,
        "ingest": ingest,
        "look": look,
        "fold": fold,
        "ssb": ssb,
        "ssb_workers": ssb_workers,
        "storage": storage,
        "tpcc_load": tpcc_load,
        "verdicts": verdicts,
        "aa": aa,
        "aa_runs": aa_runs,
        "cascade": cascade,
        "cascade_load": cascade_load,
        "changepoint": changepoint,
        "growth": growth,
        "scale": scale,
        "large_run": large_run,
        "web": web,
    }
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}; default: all")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=4, help="of each measured window of fidelity")
    options = parser.parse_args()
    console = Console()
    figures: list[Figure] = []
    for name in options.parts or parts:
        console.print(f"{name} …")
        figures += parts[name].measure(options.rounds, options.seconds, console)
    table = Table("figure", "measured", "limit", "measured ÷ limit", "all rounds", "")
    for figure in figures:
        rounds = " ".join(f"{value:.3f}" for value in figure.rounds)
        verdict = "reached" if figure.reached else "NOT REACHED"
        measured, ratio = f"{figure.value:.3f} {figure.unit}", f"{figure.value / figure.limit:.2f}"
        table.add_row(figure.name, measured, f"{figure.limit:g}", ratio, rounds, verdict)
    console.print(table)
    return 0 if all(figure.reached for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
