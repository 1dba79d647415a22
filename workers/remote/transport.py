"""Open SSH connections: host keys are always checked, only public keys log in, every error says what to do."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from results.domain.errors import AgentError, HostKeyError
from results.domain.messages import gettext_lazy as _
from workers.remote.address import Address

_KEY_ALGORITHMS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)
_KEEPALIVE_S = 15
_KEEPALIVES_MISSED = 4


@dataclass(frozen=True)
class HostKey:
    """A host's public key.

    line: OpenSSH public key line without comment
    fingerprint: 'SHA256:…'
    """

    line: str
    fingerprint: str


async def host_key_of(address: Address, *, timeout_s: float = 15) -> HostKey:
    """Return the host key that the agent offers, without logging in, through its jump host where it has one.

    Raises AgentError, and HostKeyError for the jump host's key.
    """
    async with AsyncExitStack() as stack:
        tunnel = await _tunnel(stack, address, timeout_s)
        with actionable_errors(address, timeout_s):
            async with asyncio.timeout(timeout_s):
                key = await asyncssh.get_server_host_key(
                    address.host,
                    port=address.port,
                    tunnel=tunnel or (),
                    config=None,
                    server_host_key_algs=list(_KEY_ALGORITHMS),
                )
    if key is None:
        todo = _("Look at the HostKey settings of its sshd.")
        raise AgentError(_("The agent showed no host key."), where=address.place, todo=todo)
    return _host_key(key)


async def open_connection(stack: AsyncExitStack, address: Address, timeout_s: float) -> asyncssh.SSHClientConnection:
    """Open a connection and log in, through the jump host where there is one; `stack` closes everything.

    Raises HostKeyError (unknown or changed key) or AgentError.
    """
    tunnel = await _tunnel(stack, address, timeout_s)
    guard = _ConnectionGuard(address)
    with actionable_errors(address, timeout_s):
        _require_private(address)
        try:
            async with asyncio.timeout(timeout_s):
                connection = await asyncssh.connect(
                    address.host,
                    port=address.port,
                    tunnel=tunnel or (),
                    config=None,
                    username=address.user or (),
                    client_keys=[address.key_path] if address.key_path else (),
                    agent_path=None if address.key_path else (),
                    known_hosts=([], [], []),
                    server_host_key_algs=_algorithms(address.host_key),
                    preferred_auth="publickey",
                    password=None,
                    client_factory=lambda: guard,
                    keepalive_interval=_KEEPALIVE_S,
                    keepalive_count_max=_KEEPALIVES_MISSED,
                )
        except (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed) as error:
            raise guard.host_key_error() from error
    stack.push_async_callback(_close, connection)
    return connection


@contextmanager
def actionable_errors(address: Address, timeout_s: float) -> Iterator[None]:
    """Turn errors of SSH and the network into an AgentError that a user can act on."""
    try:
        yield
    except TimeoutError as error:
        raise AgentError(
            _("The agent did not answer within {seconds:g} s.", seconds=timeout_s),
            where=address.place,
            todo=_("Check that it is up and that no firewall is in between."),
            retryable=True,
        ) from error
    except asyncssh.PermissionDenied as error:
        key = address.key_path or _("the keys of ssh-agent and of the worker's account")
        raise AgentError(
            _("The agent refuses the login of {user}.", user=address.user or _("the worker’s account")),
            where=address.place,
            why=error.reason,
            todo=_("Add the public key of {key} to that account's authorized_keys.", key=key),
        ) from error
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, PermissionError, FileNotFoundError) as error:
        raise AgentError(
            _("The key {path} cannot be used.", path=address.key_path),
            where=address.place,
            why=str(error),
            todo=_(
                "Name a readable private key without a passphrase, or load it into ssh-agent and leave the key empty."
            ),
        ) from error
    except (OSError, asyncssh.Error) as error:
        raise AgentError(
            _("The agent cannot be reached."),
            where=address.place,
            why=str(error),
            todo=_("Check host name, port, and that sshd runs there."),
            retryable=True,
        ) from error


def _require_private(address: Address) -> None:
    """Raise AgentError for a private key that others can read or replace, as ssh does, and OSError where it is away."""
    if not address.key_path:
        return
    status = Path(address.key_path).expanduser().stat()
    why, todo = "", ""
    if excess := stat.S_IMODE(status.st_mode) & 0o077:
        why = _(
            "Others may use it: its mode is {mode:04o}, of which {excess:03o} is too much.",
            mode=stat.S_IMODE(status.st_mode),
            excess=excess,
        )
        todo = _("Run chmod 600 {path}; where it may have been copied, make another key.", path=address.key_path)
    elif status.st_uid not in (0, os.geteuid()):
        why = _(
            "It belongs to user {owner}, and the worker runs as user {user}.", owner=status.st_uid, user=os.geteuid()
        )
        todo = _("Run chown {user} {path}.", user=os.geteuid(), path=address.key_path)
    if why:
        raise AgentError(
            _("The key {path} is refused.", path=address.key_path), where=address.place, why=why, todo=todo
        )


class _ConnectionGuard(asyncssh.SSHClient):
    """Accepts the agent's accepted host key only, and remembers which one was offered."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.offered: HostKey | None = None

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self.offered = _host_key(key)
        return bool(self.address.host_key) and self.offered.line.split() == self.address.host_key.split()[:2]

    def host_key_error(self) -> HostKeyError:
        offered = self.offered.fingerprint if self.offered else ""
        if not self.address.host_key:
            return HostKeyError(
                _("The agent's host key has not been accepted yet."),
                fingerprint=offered,
                where=self.address.place,
                why=_("It shows {fingerprint}.", fingerprint=offered) if offered else "",
                todo=_("Compare the fingerprint with the agent's own (ssh-keygen -lf) and accept it."),
            )
        known = fingerprint_of(self.address.host_key)
        return HostKeyError(
            _("The agent's host key has changed."),
            fingerprint=offered,
            where=self.address.place,
            why=_(
                "Accepted was {known}; it now shows {offered}.",
                known=known,
                offered=offered or _("no key of that type"),
            ),
            todo=_("If the agent was reinstalled, accept its new key; if not, find out first who is in between."),
        )


def fingerprint_of(line: str) -> str:
    """Return 'SHA256:…' of an OpenSSH public key line. Raises AgentError where it is not one."""
    try:
        return asyncssh.import_public_key(line).get_fingerprint()
    except asyncssh.KeyImportError as error:
        raise AgentError(
            _("This is not an OpenSSH public key line."),
            why=f"{error}: {line[:60]!r}",
            todo=_("It begins like 'ssh-ed25519 AAAA'."),
        ) from error


def _host_key(key: asyncssh.SSHKey) -> HostKey:
    kind, blob = key.export_public_key("openssh").decode().split()[:2]
    return HostKey(f"{kind} {blob}", key.get_fingerprint())


def _algorithms(line: str) -> list[str]:
    """Return the host key algorithms, the accepted key's type first, so that the server offers a key of that type."""
    kind = line.split(" ")[0].replace("ssh-rsa", "rsa-sha2")
    return sorted(_KEY_ALGORITHMS, key=lambda name: not (kind and name.startswith(kind)))


async def _tunnel(stack: AsyncExitStack, address: Address, timeout_s: float) -> asyncssh.SSHClientConnection | None:
    return await open_connection(stack, address.jump, timeout_s) if address.jump else None


async def _close(connection: asyncssh.SSHClientConnection) -> None:
    connection.close()
    await connection.wait_closed()
