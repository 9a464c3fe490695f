"""Addresses of a secret for hostile content, which no library may read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.web_server import web_server

SECRET = "a-secret-of-this-machine"
DRAWING = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>{SECRET}</title></svg>'


class Bait(NamedTuple):
    """A web server and a file that both have the secret."""

    url: str
    file: Path

    @property
    def addresses(self) -> tuple[str, str, str]:
        """The URL of the web server, the URL of the file, and its path."""
        return self.url, self.file.as_uri(), str(self.file)


@contextmanager
def laid_bait(folder: Path) -> Iterator[Bait]:
    """Serve the secret; fails at the end if a request reached the web server."""
    file = folder / "secret.svg"
    file.write_text(DRAWING, "utf-8")
    with web_server({"/secret.svg": DRAWING}, "image/svg+xml") as server:
        yield Bait(f"{server.url}/secret.svg", file)
        assert server.asked == [], "a library has sent a request"
