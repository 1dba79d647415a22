"""`python3 -m bootstrap WHAT`: the one entry. Any Python 3 can read this file, and say that it is too old."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        f"Teiten needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}.\n"
        "Install it (Debian 12: apt-get install python3 python3-venv), or name it: make demo PYTHON=python3.11"
    )

from bootstrap.commands import main

sys.exit(main(sys.argv[1:]))
