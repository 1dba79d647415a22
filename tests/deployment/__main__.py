"""`make deploy-check`, as root: builds the images in chroots, brings docker-compose.yml up in them by the commands of
docs/operations.md, signs in, measures a trial on the example agent, stops everything. Then it boots a Debian, and
starts Teiten's systemd units there by the commands of docs/operations.md. At the end all chroots are removed.

All runs in namespaces of its own: no port of the machine is taken, and nothing that it started or mounted outlives it.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path
from string import Template
from typing import Any

from bootstrap.errors import BootstrapError, say
from bootstrap.places import CHECKOUT
from tests.deployment import booted, chroot
from tests.deployment.composed import Composed, running, settings_of
from tests.deployment.documented import blocks
from tests.deployment.image import Image

PAGES = "http://127.0.0.1:8080"  # the proxy's port inside: the published one is the engine's
_PROGRAMS = ("mmdebstrap", "systemd-nspawn")
PASSWORD = secrets.token_urlsafe(12)
PLAN = """name = "Deployment"
workload = "pgbench"
duration_s = 2
replicates = 1
[agents]
primary = "example"
client = "example"
[parameters]
scale = 1
script = "select-only"
[factors]
clients = [1]
installation = {installations}
"""
# Servers of images that only an engine can pull: Debian's programs, with the accounts and folders of those images.
OTHERS = """
groupadd --gid 999 images; useradd --uid 999 --gid 999 images; groupadd --gid 101 images101 || true
mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf
apt-get update -q && apt-get install -q -y --no-install-recommends curl nginx postgresql redis-server
install -d -m 1777 -o 999 -g 999 /var/lib/postgresql /var/run/postgresql /data
ln -s /usr/lib/postgresql/15/bin/* /usr/local/bin/ 2>/dev/null || true
"""
DATABASE = """
if [ ! -f /var/lib/postgresql/data/PG_VERSION ]; then
    printf %s "$POSTGRES_PASSWORD" > /tmp/password
    initdb -D /var/lib/postgresql/data -U "$POSTGRES_USER" --encoding=UTF8 --auth=scram-sha-256 --pwfile=/tmp/password
    echo "create database $POSTGRES_DB" | postgres --single -D /var/lib/postgresql/data postgres || true
fi
exec postgres -D /var/lib/postgresql/data
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.deployment")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the chroots there, or use those left there")
    parser.add_argument("--only", choices=("containers", "systemd"), help="one of the two; both unless given")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if os.geteuid() != 0 or not all(map(shutil.which, _PROGRAMS)):
        raise BootstrapError(
            f"It needs root, {' and '.join(_PROGRAMS)}.",
            where="deploy-check",
            todo="As root: python3 -m bootstrap system --dev",
        )
    if options.inside:
        _bring_up(options.inside)
    elif options.keep:
        _check(options.keep.absolute(), options.only)
    else:
        with tempfile.TemporaryDirectory(prefix="teiten-deploy-", dir="/var/tmp") as folder:
            _check(Path(folder), options.only)


def _check(folder: Path, only: str | None) -> None:
    """Make what is not there yet, and try it. Raises BootstrapError."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    base = folder / "base"
    if not base.exists():
        chroot.make_base(base)
    if only != "systemd":
        _build_and_run(folder, base)
    if only != "containers":
        booted.check(folder, base)
    say("deploy-check: well")


def _build_and_run(folder: Path, base: Path) -> None:
    """Build the images that are not built, and bring them up in namespaces of their own. Raises BootstrapError."""
    if not (folder / "others").exists():
        _report_replaced(_build(folder, base))
    # Killed with its first process, so that nothing outlives this.
    words = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    script = 'ip link set lo up && exec "$@"'
    inner = [sys.executable, "-m", "tests.deployment", "--inside", str(folder)]
    status = subprocess.run([*words, "sh", "-c", script, "sh", *inner], cwd=CHECKOUT).returncode
    if status != 0:
        raise BootstrapError(f"It ended with {status}.", where="deploy-check", todo="What failed stands above.")


def _build(folder: Path, base: Path) -> dict[str, Image]:
    images = {}
    for name, context in (("teiten", CHECKOUT), ("agent", CHECKOUT / "deploy" / "agent")):
        say(f"Carrying out the Dockerfile of {context} …")
        chroot.copy_base(base, folder / name)
        images[name] = Image(folder / name)
        images[name].build(context)
        state = {"environment": images[name].environment, "folder": images[name].folder, "user": images[name].user}
        (folder / f"{name}.json").write_text(json.dumps(state | {"command": images[name].command}))
    say("Installing servers that the other images have …")
    chroot.copy_base(base, folder / "others.new")
    chroot.run_inside(folder / "others.new", OTHERS, {})
    (folder / "others.new").rename(folder / "others")
    return images


def _report_replaced(images: dict[str, Image]) -> None:
    for name, image in images.items():
        for step in image.replaced:
            say(f"Not carried out as it stands, for {name}: {step}")


def _image(folder: Path, name: str) -> Image:
    if name == "others":
        return Image(folder / name)
    return Image(folder / name, **json.loads((folder / f"{name}.json").read_text()))


def _bring_up(folder: Path) -> None:
    """Do what docs/operations.md says under *With containers*, in a folder of its own."""
    # Some look names up only where there is another address than the loopback's; this one is for tests (RFC 2544).
    chroot.run_outside("ip", "address", "add", "198.18.0.1/32", "dev", "lo")
    place = folder / "checkout"
    for left in (place, folder / "volumes"):
        shutil.rmtree(left, ignore_errors=True)
    (place / "deploy").mkdir(parents=True)
    for file in ("docker-compose.yml", ".env.example", "deploy/nginx.conf", "deploy/proxy.conf.template"):
        shutil.copy(CHECKOUT / file, place / file)
    first, *_, agent_block = blocks("With containers")
    for command in first:
        if not command.startswith("docker "):
            chroot.run_outside("sh", "-ec", command.replace("sudo ", ""), cwd=place)
    _set_secrets(place / ".env")
    teiten, agent, others = (_image(folder, name) for name in ("teiten", "agent", "others"))
    images = {"db": others, "redis": others, "proxy": others, "agent": agent}
    composed = Composed(place, images | dict.fromkeys(("migrate", "web", "worker", "control", "beat"), teiten), folder)
    _stand_in(composed, place)
    for image in (teiten, agent, others):
        (image.root / "etc" / "hosts").write_text(f"127.0.0.1 localhost {' '.join(composed.services)}\n")
    say("docker compose up …")
    with running(composed):
        for command in first:
            if command.startswith("docker compose exec"):
                _exec(composed, command, f"{PASSWORD}\n")
        _sign_in_and_look()
        _measure(composed, agent_block, folder)
        doctor = composed.run("web", ["python", "manage.py", "doctor"])
        say(doctor.stdout)


def _stand_in(composed: Composed, place: Path) -> None:
    """Do what the entry points of images do that are not here: make the cluster, fill in the proxy's template."""
    services = composed.services
    services["db"]["command"] = ["sh", "-ec", DATABASE.replace("$", "$$")]
    proxy = services["proxy"]["environment"]
    template = (place / "deploy" / "proxy.conf.template").read_text(encoding="utf-8")
    configuration = place / "proxy.conf"
    configuration.write_text(Template(template).safe_substitute(proxy), encoding="utf-8")
    copy = f'cp /proxy.conf {proxy["NGINX_ENVSUBST_OUTPUT_DIR"]}/proxy.conf && exec "$0" "$@"'
    services["proxy"]["command"] = ["sh", "-c", copy.replace("$", "$$"), *services["proxy"]["command"]]
    services["proxy"]["volumes"].append("./proxy.conf:/proxy.conf:ro")


def _set_secrets(env: Path) -> None:
    text = env.read_text(encoding="utf-8")
    for name in ("TEITEN_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"):
        assert settings_of(text)[name] == "", name
        text = re.sub(rf"^{name}=$", f"{name}={secrets.token_hex(32)}", text, flags=re.M)
    # A name of the pages under which no health check asks.
    env.write_text(text.replace("TEITEN_ALLOWED_HOSTS=localhost,127.0.0.1", "TEITEN_ALLOWED_HOSTS=pages.example.org"))


def _exec(composed: Composed, command: str, text: str = "") -> str:
    """Run `docker compose exec SERVICE COMMAND`; return its output. Raises BootstrapError."""
    _, _, verb, service, *words = shlex.split(command)
    assert verb == "exec", command
    say(f"$ {command}")
    result = composed.run(service, words, text)
    if result.returncode != 0:
        raise BootstrapError(f"`{command}` ended with {result.returncode}.", why=result.stdout + result.stderr)
    return result.stdout


_BROWSER = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def _get(path: str, form: dict[str, str] | None = None) -> str:
    data = urllib.parse.urlencode(form).encode() if form else None
    request = urllib.request.Request(f"{PAGES}{path}", data, {"Host": "pages.example.org"})
    with _BROWSER.open(request, timeout=30) as answer:
        return str(answer.read().decode())


def _sign_in_and_look() -> None:
    page = _get("/account/sign-in/")
    [token] = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page))
    home = _get("/account/sign-in/", {"csrfmiddlewaretoken": token, "username": "you", "password": PASSWORD})
    assert 'action="/account/sign-out/"' in home, home[-3000:]
    for path in ("/runs/", "/agents/", "/plans/"):
        assert "</html>" in _get(path)


def _measure(composed: Composed, commands: list[str], folder: Path) -> None:
    """Add the example agent as documented, run one plan on it, and see its trials on the API and a page."""
    fingerprint = ""
    for command in commands:
        output = _exec(composed, command.replace("SHA256:…", fingerprint))
        fingerprint = next(iter(re.findall(r"SHA256:\S+", output)), fingerprint)
    agents: Any = json.loads(_get("/api/v1/agents/"))["results"]
    names = [installation["name"] for installation in agents[0]["installations"]]
    say(f"The example agent has PostgreSQL {', '.join(names)}.")
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(installations=json.dumps(names)))
    result = composed.run("web", ["python", "manage.py", "run_plan", "/plan.toml"], **{"plan.toml": plan})
    say(result.stdout)
    run: Any = json.loads(_get("/api/v1/runs/"))["results"][0]
    if result.returncode != 0 or not run["trials_done"] == run["trials_total"] == len(names):
        logs = "\n".join(composed.log(name).read_text()[-1500:] for name in ("worker", "control", "agent"))
        raise BootstrapError("The plan was not measured.", where="deploy-check", why=f"{result.stderr}\n{logs}")
    assert "Deployment" in _get(f"/runs/{run['id']}/")


if __name__ == "__main__":
    try:
        main()
    except BootstrapError as error:
        sys.exit(f"\n{error}")
