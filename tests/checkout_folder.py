"""Helpers of tests with checkouts: checking out, pushing, edits of files, and the contents of a folder."""

from pathlib import Path
from typing import Any

from presscheck.api.change_requests import GetChangeRequest
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.pull import prepare_folder, pull
from presscheck.engine.checkout.push import Pushed, push
from presscheck.engine.checkout.state import STATE_FILE, Checkout, CheckoutState
from presscheck.engine.engine import Engine


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


async def push_all(engine: Any, folder: Path) -> Pushed:
    checkout = Checkout.find(folder)
    return await push(engine, checkout, folder_changes(checkout), "Edits")


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text in a file, which must have it."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def contents(directory: Path) -> dict[str, bytes]:
    """The files of a checkout by path, without its state."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != STATE_FILE
    }
