"""Environment variables for proxies, certificates and the TLS key log; a SOCKS proxy runs in the test."""

import asyncio
import gc
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.tcp_server import listening

from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.client.environment import proxy_for, tls_context
from presscheck.errors import ConfigurationError, MissingExtra, NetworkError

VARIABLES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
USER = b'{"object":"user","id":"u1","displayName":"Ana","urls":{"location":"https://x/u1"}}'


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a request with the user."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(USER) + USER)
    await writer.drain()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(4096):
        writer.write(data)
        await writer.drain()


@asynccontextmanager
async def socks_server(target: str, asked: list[str]) -> AsyncIterator[str]:
    """Run a SOCKS 5 proxy (RFC 1928, without a password) that connects to `target` for every requested name.

    The requested names are added to `asked`. Yields the address of the proxy.
    """
    port = int(target.rpartition(":")[2])

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        version, methods = await reader.readexactly(2)
        assert version == 5
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        version, command, _, kind = await reader.readexactly(4)
        assert (version, command, kind) == (5, 1, 3), "it connects to a name, which the proxy resolves"
        name = await reader.readexactly((await reader.readexactly(1))[0])
        asked.append(f"{name.decode()}:{int.from_bytes(await reader.readexactly(2), 'big')}")
        to, into = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\x05\x00\x00\x01" + socket.inet_aton("127.0.0.1") + port.to_bytes(2, "big"))
        back = asyncio.create_task(copy(reader, into))
        await copy(to, writer)
        back.cancel()
        into.close()

    async with listening(talk) as address:
        yield address.removeprefix("http://")


@pytest.mark.parametrize("scheme", ["socks", "socks5", "socks5h", "SOCKS5"])
async def test_requests_go_through_a_socks_proxy(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    async with listening(answer) as service, socks_server(service, asked) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"{scheme}://{proxy}/")
        async with Client("http://docs.invalid", "t", insecure=True) as client:
            assert (await client.send(GetCurrentUser())).id == "u1"
    assert asked == ["docs.invalid:80"]


@pytest.mark.filterwarnings("ignore:unclosed", "ignore::pytest.PytestUnraisableExceptionWarning")
async def test_error_at_a_proxy_names_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_socks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(3)
        writer.write(b"SSH-2.0-a server of another kind\r\n")
        await writer.drain()

    async def refuses(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(3)
        writer.write(b"\x05\xff")
        await writer.drain()

    for talk in (no_socks, refuses):
        async with listening(talk) as address:
            value = address.replace("http", "socks")
            monkeypatch.setenv("ALL_PROXY", value)
            async with Client("http://docs.invalid", "t", insecure=True) as client:
                with pytest.raises(NetworkError) as error:
                    await client.send(GetCurrentUser())
            assert f"docs.invalid through ALL_PROXY={value}" in error.value.message
    del error, client
    gc.collect()  # httpcore does not close a connection whose handshake failed


def test_missing_socks_library_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks://ana:secret@127.0.0.1:9/")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(MissingExtra) as error:
        Client("https://docs.invalid", "t")
    assert error.value.message == (
        "ALL_PROXY=socks://…@127.0.0.1:9/: SOCKS proxies need the extra socks (socksio is not installed):"
        " pip install 'presscheck[socks]'"
    )


def test_invalid_proxy_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "ftp://h:1": "ftp:// is not supported",
        "http://h:99999": "Port out of range",
        "http://h:0": "is not the URL of a proxy",
        "http://h:x": "Port could not be cast",
        "http://": "is not the URL of a proxy",
        "http://[::1": "Invalid IPv6",
        "socks4://h:1": "socks4:// is not supported",
        "http://a b:1": "is not the URL of a proxy",
        "http://\x7f": "is not the URL of a proxy",
    }
    for name in ("ALL_PROXY", "https_proxy"):
        for value, reason in values.items():
            with monkeypatch.context() as patch:
                patch.setenv(name, value)
                with pytest.raises(ConfigurationError) as error:
                    Client("https://docs.invalid", "t")
                assert error.value.message.startswith(f"{name}={value}: "), value
                assert reason in error.value.message


def test_the_proxy_of_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "proxy.invalid")
    proxy = proxy_for("https://docs.invalid/v1")
    assert proxy is not None and str(proxy.server.url) == "http://proxy.invalid"
    monkeypatch.setenv("HTTPS_PROXY", "socks://proxy.invalid/")
    proxy = proxy_for("https://docs.invalid/v1")
    assert proxy is not None and str(proxy.server.url) == "socks5://proxy.invalid:1080"
    for names, is_used in {
        "*": False,
        "docs.invalid": False,
        ".invalid": False,
        "example.org, docs.invalid": False,
        "http://[::": True,
        ",, ,": True,
        "\x7f*[": True,
    }.items():
        monkeypatch.setenv("NO_PROXY", names)
        assert (proxy_for("https://docs.invalid/v1") is not None) == is_used, names


def test_unusable_tls_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text"
    text.write_text("no certificate")
    for name, value, reason in (
        ("SSL_CERT_FILE", tmp_path / "none", "No such file"),
        ("SSL_CERT_FILE", text, "has no certificates"),
        ("SSL_CERT_FILE", tmp_path, ""),
        ("SSL_CERT_DIR", tmp_path / "none", "is not a folder"),
        ("SSLKEYLOGFILE", tmp_path / "none" / "keys", "No such file"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, str(value))
            with pytest.raises(ConfigurationError) as error:
                tls_context()
            assert error.value.message.startswith(f"{name}={value}: "), value
            assert reason in error.value.message
