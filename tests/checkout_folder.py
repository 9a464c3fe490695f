"""Helpers for tests with checkouts: check out, push, edit files, read a folder, and interrupt an engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from presscheck.api.change_requests import GetChangeRequest
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.pull import prepare_folder, pull
from presscheck.engine.checkout.push import Pushed, push
from presscheck.engine.checkout.state import STATE_FILE, Checkout, CheckoutState
from presscheck.engine.engine import Engine
from presscheck.errors import PresscheckError


async def check_out(engine: Engine, directory: Path, number: int | None = None, space: str = "guides") -> Path:
    state = CheckoutState(service="", space=space)
    if number:
        request = await engine.read(GetChangeRequest(space_id=space, change_request_id=str(number)))
        state.request, state.number = request.id, request.number
    prepare_folder(directory)
    checkout = Checkout(directory, state)
    checkout.save()
    await pull(engine, checkout)
    return directory


async def push_all(engine: Any, folder: Path, *, is_new: bool = False) -> Pushed:
    checkout = Checkout.find(folder)
    return await push(engine, checkout, folder_changes(checkout), "Edits", is_new=is_new)


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text in a file; fails if the file does not contain it."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def contents(directory: Path) -> dict[str, bytes]:
    """Return the contents of the files of a checkout by path, without the state file."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != STATE_FILE
    }


class Interrupted(PresscheckError):
    """Stands for the end of the process."""


class Interruption:
    """Wraps an engine and calls `then` before the write or download with the number `number`."""

    def __init__(self, engine: Engine, number: int, then: Callable[[], Any]) -> None:
        self._engine, self._left, self._then = engine, number, then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def write(self, call: Any, **options: Any) -> Any:
        self._count()
        return self._engine.write(call, **options)

    async def download(self, *arguments: Any) -> bytes:
        self._count()
        return await self._engine.download(*arguments)

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._then()


def end() -> None:
    raise Interrupted("ended")
