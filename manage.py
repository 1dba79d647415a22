#!/usr/bin/env python3
"""Django's entry. Without settings of its own it works on the demo that runs in this checkout."""

import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    try:
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError:
        sys.exit(f"{sys.executable} has no Django. Write {CHECKOUT}/.venv/bin/python manage.py …")
    from results.domain.errors import TeitenError
    from webapp import env

    try:
        demo = env.beside_demo(os.environ, CHECKOUT)
        if demo:
            print(f"manage.py: on the demo in {demo['TEITEN_STATE']}", file=sys.stderr)  # noqa: T201
        os.environ.update(demo | dict(os.environ))
        execute_from_command_line(sys.argv)
    except TeitenError as error:
        sys.exit(f"manage.py: {error}")


if __name__ == "__main__":
    main()
