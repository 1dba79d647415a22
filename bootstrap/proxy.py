"""The demo's reverse proxy: nginx with the configuration that docker-compose.yml gives it as well."""

from __future__ import annotations

from string import Template

from bootstrap import system
from bootstrap.places import CHECKOUT, Places, write_file
from bootstrap.ports import HOST

TEMPLATE = CHECKOUT / "deploy" / "proxy.conf.template"
# One process, which runs as who starts it and keeps the environment by which a later start finds it (sweep.py).
_MAIN = """daemon off;
master_process off;
pid "{folder}/pid";
error_log stderr warn;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path "{folder}/client_body";
    proxy_temp_path "{folder}/proxy";
    fastcgi_temp_path "{folder}/fastcgi";
    uwsgi_temp_path "{folder}/uwsgi";
    scgi_temp_path "{folder}/scgi";
    include "{folder}/proxy.conf";
}}
"""


def command(places: Places, listen: int, upstream: int) -> tuple[str, ...] | None:
    """Write the configuration; return the command that starts nginx, None where it is not installed.

    listen, upstream: ports of the proxy and of the web server behind it"""
    nginx = system.program("nginx")
    if nginx is None:
        return None
    addresses = {"TEITEN_LISTEN": f"{HOST}:{listen}", "TEITEN_UPSTREAM": f"{HOST}:{upstream}"}
    folder = places.proxy
    write_file(folder / "proxy.conf", Template(TEMPLATE.read_text(encoding="utf-8")).safe_substitute(addresses))
    write_file(folder / "nginx.conf", _MAIN.format(folder=folder))
    return (nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"))
