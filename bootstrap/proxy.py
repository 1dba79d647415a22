"""The demo's reverse proxy: nginx with the configuration that docker-compose.yml gives it as well."""

from __future__ import annotations

import re
from string import Template

from bootstrap import system
from bootstrap.places import CHECKOUT, Places, write_file
from bootstrap.ports import HOST

TEMPLATE = CHECKOUT / "deploy" / "proxy.conf.template"
MAIN = CHECKOUT / "deploy" / "nginx.conf"
# One process, which runs as who starts it and keeps the environment by which a later start finds it (sweep.py).
_ONE_PROCESS = "daemon off;\nmaster_process off;\n"


def command(places: Places, listen: int, upstream: int) -> tuple[str, ...] | None:
    """Write the configuration; return the command that starts nginx, None where it is not installed.

    listen, upstream: ports of the proxy and of the web server behind it"""
    nginx = system.program("nginx")
    if nginx is None:
        return None
    addresses = {"TEITEN_LISTEN": f"{HOST}:{listen}", "TEITEN_UPSTREAM": f"{HOST}:{upstream}"}
    folder = places.proxy
    write_file(folder / "proxy.conf", Template(TEMPLATE.read_text(encoding="utf-8")).safe_substitute(addresses))
    main = re.sub(r"\B/tmp/([\w.]+);", rf'"{folder}/\1";', MAIN.read_text(encoding="utf-8"))
    write_file(folder / "nginx.conf", _ONE_PROCESS + main)
    return (nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"))
