"""Parameters → pgbench's arguments, and what each pgbench version can do. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from results.domain.errors import VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.messages import gettext_lazy as _
from workers.pgbench import parameters as shared
from workers.pgbench.version import FIRST_WITH_BUILTIN_NAMES, require

from .spec import CUSTOM

_FIRST_WITH_PARTITIONS = 130000  # of pgbench
_OLD_BUILTINS = {"tpcb-like": (), "simple-update": ("-N",), "select-only": ("-S",)}


@dataclass(frozen=True)
class WeightedScript:
    """One script of the mixture.

    name: a built-in's name or 'custom'."""

    name: str
    weight: int = 1


def scripts_of(text: str) -> tuple[WeightedScript, ...]:
    """'select-only@9, simple-update@1' → its scripts, in that order (pgbench numbers them so)."""
    scripts = []
    for item in text.split(","):
        name, _, weight = item.strip().partition("@")
        scripts.append(WeightedScript(name, int(weight) if weight else 1))
    return tuple(scripts)


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
    shared.check_version(parameters, client)
    if int(parameters["partitions"]):
        require("parameters.partitions", "pgbench", client, _FIRST_WITH_PARTITIONS)
        require("parameters.partitions", "PostgreSQL", server, 110000)
    scripts = scripts_of(str(parameters["script"]))
    if len(scripts) > 1 or scripts[0].weight != 1:
        require("parameters.script", "pgbench", client, FIRST_WITH_BUILTIN_NAMES)
    shared.check_server(access_method, server)
    _check_scripts(parameters, scripts)


def _check_scripts(parameters: Mapping[str, Scalar], scripts: tuple[WeightedScript, ...]) -> None:
    if any(script.name == CUSTOM for script in scripts) and not str(parameters["custom_script"]).strip():
        raise VerifyError(
            _("the custom script is empty"),
            where="parameters.custom_script",
            why=_("the parameter 'script' asks for it"),
            todo=_("Give the script's text, or choose a built-in script."),
        )
    if not any(script.weight for script in scripts):
        raise VerifyError(
            _("every script has the weight 0"),
            where="parameters.script",
            todo=_("Give at least one script a weight of 1 or more."),
        )


def load_arguments(parameters: Mapping[str, Scalar]) -> list[str]:
    """Arguments of `pgbench -i` beside its scale."""
    arguments = ["-F", str(parameters["fillfactor"])]
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
    """Arguments that decide the load, scripts included.

    client: pgbench's version number.
    custom_path: where the custom script lies."""
    arguments = shared.run_arguments(parameters, threads=threads, duration_s=duration_s, client=client)
    return arguments + _script_arguments(parameters, client, custom_path)


def _script_arguments(parameters: Mapping[str, Scalar], client: int, custom_path: str) -> list[str]:
    scripts = scripts_of(str(parameters["script"]))
    arguments: list[str] = []
    # pgbench takes the scale from the tables only when a built-in script runs
    if all(script.name == CUSTOM for script in scripts):
        arguments += ["-s", str(parameters["scale"])]
    if client < FIRST_WITH_BUILTIN_NAMES:
        only = scripts[0].name
        return arguments + (["-f", custom_path] if only == CUSTOM else list(_OLD_BUILTINS[only]))
    for script in scripts:
        option, source = ("-f", custom_path) if script.name == CUSTOM else ("-b", script.name)
        # the weight is always given: a path with an '@' of its own stays one path
        arguments += [option, f"{source}@{script.weight}"]
    return arguments
