"""Parameters → pgbench's arguments, and what each pgbench version can do. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from results.errors import VerifyError
from results.parameters import Scalar

from .spec import CUSTOM

# name of the parameter, the first pgbench that has its option
_SINCE = {
    "max_tries": 150000,
    "partitions": 130000,
}
_FIRST_WITH_BUILTIN_NAMES = 90600
FIRST_WITH_LOG_PREFIX = 100000
_FIRST_WITH_DETAILED_FAILURES = 150000
FIRST_WITH_ACCESS_METHODS = 120000
_OLD_BUILTINS = {"tpcb-like": (), "simple-update": ("-N",), "select-only": ("-S",)}


@dataclass(frozen=True)
class WeightedScript:
    """One script of the mixture. name: a built-in's name or 'custom'."""

    name: str
    weight: int = 1


def pgbench_version_num(text: str) -> int:
    """'pgbench (PostgreSQL) 12beta1' → 120000; '… 9.5.25' → 90525; '… 16.14' → 160014. Raises ValueError."""
    match = re.search(r"\(PostgreSQL\)\s+(\d+)(?:\.(\d+))?(?:\.(\d+))?", text)
    if match is None:
        raise ValueError(f"{text.strip()!r} is not the answer of pgbench --version")
    first, second, third = (int(part or 0) for part in match.groups())
    return first * 10000 + second if first >= 10 else first * 10000 + second * 100 + third


def scripts_of(text: str) -> tuple[WeightedScript, ...]:
    """'select-only@9, simple-update@1' → its scripts, in that order (pgbench numbers them so)."""
    found = []
    for item in text.split(","):
        name, _, weight = item.strip().partition("@")
        found.append(WeightedScript(name, int(weight) if weight else 1))
    return tuple(found)


def script_names(text: str) -> tuple[str, ...]:
    """Labels of the scripts in pgbench's numbering; a name that comes twice gets a number: 'custom',
    'custom 2'."""
    names: list[str] = []
    for script in scripts_of(text):
        earlier = sum(name.split(" ")[0] == script.name for name in names)
        names.append(script.name if not earlier else f"{script.name} {earlier + 1}")
    return tuple(names)


def check_version(parameters: Mapping[str, Scalar], access_method: str, client: int, server: int) -> None:
    """Raises VerifyError that names the parameter and the version when pgbench (client) or the server
    (both as version numbers) lacks what the parameters ask for."""
    for name, since in _SINCE.items():
        wanted = int(parameters[name]) > (1 if name == "max_tries" else 0)
        if wanted:
            _require(f"parameters.{name}", "pgbench", client, since)
    if int(parameters["partitions"]) and server < 110000:
        _require("parameters.partitions", "PostgreSQL", server, 110000)
    scripts = scripts_of(str(parameters["script"]))
    if len(scripts) > 1 or scripts[0].weight != 1:
        _require("parameters.script", "pgbench", client, _FIRST_WITH_BUILTIN_NAMES)
    if access_method not in ("", "heap"):
        _require("access_method", "PostgreSQL", server, FIRST_WITH_ACCESS_METHODS)
    _check_scripts(parameters, scripts)


def _check_scripts(parameters: Mapping[str, Scalar], scripts: tuple[WeightedScript, ...]) -> None:
    if any(script.name == CUSTOM for script in scripts) and not str(parameters["custom_script"]).strip():
        raise VerifyError(
            "the custom script is empty",
            where="parameters.custom_script",
            why="the parameter 'script' asks for it",
            todo="Give the script's text, or choose a built-in script.",
        )
    if not any(script.weight for script in scripts):
        raise VerifyError(
            "every script has the weight 0",
            where="parameters.script",
            todo="Give at least one script a weight of 1 or more.",
        )


def _require(where: str, program: str, version: int, since: int) -> None:
    if version < since:
        raise VerifyError(
            f"{program} {version_name(version)} cannot do this",
            where=where,
            why=f"It came with version {version_name(since)}.",
            todo="Leave the parameter at its default, or exclude this version from the plan.",
        )


def version_name(number: int) -> str:
    """160014 → '16.14'; 90525 → '9.5.25'; 90600 → '9.6'; 150000 → '15'."""
    if number >= 100000:
        parts = [number // 10000, number % 10000]
    else:
        parts = [number // 10000, number // 100 % 100, number % 100]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return ".".join(str(part) for part in parts)


def load_arguments(parameters: Mapping[str, Scalar]) -> list[str]:
    """Arguments of `pgbench -i`, without program and database."""
    arguments = ["-i", "-q", "-s", str(parameters["scale"]), "-F", str(parameters["fillfactor"])]
    if int(parameters["partitions"]):
        arguments.append(f"--partitions={parameters['partitions']}")
        arguments.append(f"--partition-method={parameters['partition_method']}")
    if parameters["unlogged"]:
        arguments.append("--unlogged-tables")
    if parameters["foreign_keys"]:
        arguments.append("--foreign-keys")
    return arguments


def run_arguments(
    parameters: Mapping[str, Scalar], *, threads: int, client: int, custom_path: str, duration_s: float
) -> list[str]:
    """Arguments that decide the load, without program, database, progress and log. client: pgbench's version
    number; custom_path: where the custom script lies. A duration is rounded up to whole seconds."""
    clients = int(parameters["clients"])
    arguments = ["-n", "-c", str(clients), "-j", str(max(1, min(threads, clients)))]
    arguments += ["-M", str(parameters["protocol"])]
    if int(parameters["transactions"]):
        arguments += ["-t", str(parameters["transactions"])]
    else:
        arguments += ["-T", str(max(1, math.ceil(duration_s)))]
    arguments += _optional(parameters, client)
    return arguments + _script_arguments(parameters, client, custom_path)


def _optional(parameters: Mapping[str, Scalar], client: int) -> list[str]:
    arguments: list[str] = []
    if float(parameters["rate"]):
        arguments += ["-R", f"{float(parameters['rate']):.12g}"]
    if float(parameters["latency_limit_ms"]):
        arguments += ["-L", f"{float(parameters['latency_limit_ms']):.12g}"]
    if parameters["connect"]:
        arguments.append("-C")
    if parameters["per_statement"]:
        arguments.append("-r")
    if int(parameters["max_tries"]) > 1:
        arguments.append(f"--max-tries={parameters['max_tries']}")
    if client >= _FIRST_WITH_DETAILED_FAILURES:
        arguments.append("--failures-detailed")
    for definition in filter(None, (part.strip() for part in str(parameters["define"]).split(","))):
        arguments += ["-D", definition]
    return arguments


def _script_arguments(parameters: Mapping[str, Scalar], client: int, custom_path: str) -> list[str]:
    scripts = scripts_of(str(parameters["script"]))
    arguments: list[str] = []
    # pgbench takes the scale from the tables only when a built-in script runs
    if all(script.name == CUSTOM for script in scripts):
        arguments += ["-s", str(parameters["scale"])]
    if client < _FIRST_WITH_BUILTIN_NAMES:
        only = scripts[0].name
        return arguments + (["-f", custom_path] if only == CUSTOM else list(_OLD_BUILTINS[only]))
    for script in scripts:
        option, source = ("-f", custom_path) if script.name == CUSTOM else ("-b", script.name)
        # the weight is always given: a path with an '@' of its own stays one path
        arguments += [option, f"{source}@{script.weight}"]
    return arguments
