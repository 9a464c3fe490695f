"""Environments in which presscheck cannot use a service, and what the error must name."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.cli.shell import Shell

BYTES = "\udcff"
"""An argument or the value of a variable that is not UTF-8: the byte 0xff, as Python decodes it."""


def write(path: Path, content: bytes = b"") -> None:
    """Write a file that only its owner can read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(0o600)
    path.write_bytes(content)


def with_token_file(home: Path, token: bytes, mark: bytes = b"") -> None:
    """Write settings and the token file that they name. Both files begin with `mark`."""
    write(home / "config" / "config.toml", mark + f'[profiles.default]\ntoken_file = "{home}/token"\n'.encode())
    write(home / "token", mark + token)


@dataclass(frozen=True)
class Broken:
    """An environment in which no command can use the service.

    Attributes:
        code: the exit code of each command that uses the service.
        says: a part of the error; HOME stands for the home directory.
        variables: the environment variables.
        prepare: called with the home directory.
        spares: commands that use the service but fail before they notice the problem.
    """

    code: int
    says: str
    variables: dict[str, str | None] = field(default_factory=dict[str, str | None])
    prepare: Callable[[Path], None] = lambda home: None
    spares: frozenset[str] = frozenset()


def variable(name: str, value: str, code: int = 2) -> Broken:
    """Return an environment in which a variable has a bad value."""
    return Broken(code, name if value == BYTES else f"{name}={value}", {name: value})


CONNECTIONS = {
    "a SOCKS proxy that is not there": variable("ALL_PROXY", "socks://127.0.0.1:9/", 3),
    "a proxy of an unknown kind": variable("ALL_PROXY", "ftp://127.0.0.1:9/"),
    "a proxy with a bad port": variable("HTTPS_PROXY", "http://127.0.0.1:99999"),
    "no certificate file": variable("SSL_CERT_FILE", "/nonexistent"),
    "a log of TLS keys that cannot be written": variable("SSLKEYLOGFILE", "/nonexistent/keys"),
}
"""Environments whose problem is noticed when the first request is sent."""
PROFILES = {
    "a token in bytes": variable("PRESSCHECK_TOKEN", BYTES),
    "a URL in bytes": variable("PRESSCHECK_BASE_URL", BYTES),
    "a profile in bytes": variable("PRESSCHECK_PROFILE", BYTES),
    "a theme in bytes": variable("PRESSCHECK_THEME", BYTES),
    "a home that is no folder": Broken(2, "/dev/null/config/config.toml", {"PRESSCHECK_HOME": "/dev/null"}),
    "a state folder that is a file": Broken(
        1, "HOME/state: File exists", prepare=lambda home: write(home / "state"), spares=frozenset(("login",))
    ),
    "settings in bytes": Broken(
        2, "HOME/config/config.toml: is not UTF-8", prepare=lambda home: write(home / "config" / "config.toml", b"\xff")
    ),
    "settings that are a folder": Broken(
        2, "HOME/config/config.toml: cannot", prepare=lambda home: write(home / "config" / "config.toml" / "file")
    ),
    "a token file in bytes": Broken(
        2,
        "HOME/token: it is not UTF-8 text",
        {"PRESSCHECK_TOKEN": None},
        lambda home: with_token_file(home, b"\xff"),
        frozenset(("login",)),
    ),
}
"""Environments whose problem is noticed when the profile or the outbox is opened."""
HOMES = frozenset(("a home that is no folder", "a state folder that is a file"))
"""Environments in which the demo cannot run: it uses neither the profile, nor proxies, nor TLS."""
ALL_AT_ONCE = Broken(
    0,
    "",
    {
        name: value
        for environment in (CONNECTIONS | PROFILES).values()
        for name, value in environment.variables.items()
        if name != "PRESSCHECK_HOME"
    },
    lambda home: write(home / "config" / "config.toml", b"\xff"),
)
"""All variables of these environments except `PRESSCHECK_HOME`, and settings that are not UTF-8."""


@cache
def one_certificate(folder: Path) -> Path:
    """Write a file with one certificate authority; reading all of the system's takes longer than most commands."""
    file = folder / "authority.pem"
    file.write_text(ssl.DER_cert_to_PEM_cert(ssl.create_default_context().get_ca_certs(binary_form=True)[0]))
    return file


def shell_in(broken: Broken, folder: Path, *, token: bool = True) -> Shell:
    """Return a shell in a broken environment."""
    variables: dict[str, str | None] = {
        "PRESSCHECK_BASE_URL": "https://docs.invalid",
        "PRESSCHECK_TOKEN": "t" * 20 if token else None,
        "SSL_CERT_FILE": str(one_certificate(folder)),
        "EDITOR": "true",
        **broken.variables,
    }
    return Shell(folder / "home", variables)  # pyright: ignore[reportArgumentType]  # None removes a variable
