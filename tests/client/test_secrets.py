"""The token is sent only to its own origin, and is never shown or logged."""

import io
import logging
import traceback

import pytest
from rich.console import Console
from rich.traceback import Traceback
from tests.table import each_case

from presscheck.api.comments import Document, PostComment
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.errors import ConfigurationError, MalformedAnswer, PresscheckError

from .conftest import QUICK, TOKEN, Exchanged, FaultServer, http

READ = GetCurrentUser()
WRITE = PostComment(space_id="s", change_request_id="1", body=Document(markdown="x"))


@pytest.fixture
async def elsewhere() -> FaultServer:
    return FaultServer(script=[http(200, {"id": "u1"})])


@pytest.mark.parametrize("call", [READ, WRITE])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_token_is_not_sent_to_another_origin(
    server: FaultServer, elsewhere: FaultServer, client: Client, status: int, call: object
) -> None:
    async with elsewhere.listening():
        server.script = [http(status, location=f"{elsewhere.address}/v1/user")]
        with pytest.raises(MalformedAnswer, match="where your token is not sent"):
            await client.send(call)  # type: ignore[arg-type]
    assert elsewhere.asked == []
    assert elsewhere.connections == 0


def everything_said(error: BaseException) -> str:
    """Return the most detailed tracebacks of an error and its causes, with the values of all local variables."""
    console = Console(file=io.StringIO(), width=400)
    texts = []
    behind: BaseException | None = error
    while behind is not None:
        frames = behind.__traceback__
        while frames and frames.tb_frame.f_code.co_filename == __file__:
            frames = frames.tb_next  # frames of the test contain the token
        console.print(Traceback.from_exception(type(behind), behind, frames, show_locals=True))
        summary = traceback.TracebackException(type(behind), behind, frames, capture_locals=True)
        texts += [repr(behind), str(behind), *summary.format(chain=False)]
        behind = behind.__cause__ or behind.__context__
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue() + "".join(texts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        http(401, {"error": {"code": 401, "message": "who are you?"}}),
        lambda connection: connection.hang(),
        lambda connection: connection.write(http(200, b"x" * 90)[:-9]),
    ],
)
async def test_errors_do_not_contain_the_token(
    server: FaultServer, client: Client, caplog: pytest.LogCaptureFixture, fault: object
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script = [fault]  # type: ignore[list-item]
    with pytest.raises(PresscheckError) as caught:
        await client.send(WRITE)
    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"
    said = everything_said(caught.value)
    assert "client.py" in said
    for text in (said, repr(client), str(client), caplog.text):
        assert TOKEN not in text


@pytest.mark.slow
async def test_connection_errors_do_not_contain_the_token() -> None:
    async with Client("http://127.0.0.1:1", TOKEN, timeout=QUICK) as client:
        with pytest.raises(PresscheckError) as caught:
            await client.send(READ)
    assert TOKEN not in everything_said(caught.value)


@each_case("token", [f"{TOKEN}\nHost: evil", f"{TOKEN}\x00", f"{TOKEN} {TOKEN}", f"{TOKEN}é"])
def test_an_invalid_token_is_rejected_and_not_shown(token: str) -> None:
    with pytest.raises(ConfigurationError, match="copy it again") as caught:
        Client("https://example.org", token)
    assert TOKEN not in str(caught.value)


async def test_the_newline_at_the_end_of_a_token_file_does_not_matter(server: FaultServer) -> None:
    server.script = [http(200, {"id": "u1"})]
    async with Client(server.address, f"{TOKEN}\n") as client:
        await client.send(READ)
    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


async def test_without_a_token_no_authorization_is_sent(server: FaultServer) -> None:
    server.script = [http(200, {"id": "u1"})]
    async with Client(server.address, None) as client:
        await client.send(READ)
    assert "authorization" not in server.asked[0].headers


async def test_proxies_are_not_used_for_this_machine(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(connection: Exchanged) -> None:
        connection.reset()

    server.script = [http(200, {"id": "u1"})]
    async with FaultServer(script=[nobody]).listening() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        async with Client(server.address, TOKEN) as client:
            assert (await client.send(READ)).id == "u1"
    assert proxy.connections == 0
