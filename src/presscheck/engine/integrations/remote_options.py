"""Options that an integration serves at a URL: those of a select in a component, and of a setting.

A select has them as `[{id, label}]`, or in the `items` of an object; a setting as `[{value, label}]`. The URL comes
from the integration, so a reader asks the user before it goes to another host than that of the integration.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urljoin, urlsplit

from presscheck.errors import MalformedAnswer
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.operation import Operation

MOST = 2_000
"""Options that are listed."""


class Downloader(Protocol):
    """Downloads a file."""

    async def download(self, call: Operation[Any], url: str) -> bytes:
        """The bytes of the file at a URL."""
        ...


def absolute(address: str, endpoint: str) -> str:
    """The address of options; one without a host is below the public endpoint of the integration.

    An address with the host of the endpoint gets its scheme, too: components name hosts only.
    """
    base = urlsplit(endpoint)
    if not urlsplit(address).netloc:
        return urljoin(f"{endpoint.rstrip('/')}/", address.lstrip("/")) if endpoint else ""
    parts = urlsplit(address)
    return parts._replace(scheme=base.scheme).geturl() if base.netloc and parts.netloc == base.netloc else address


def is_of_integration(address: str, endpoint: str) -> bool:
    """Whether an address has the host of the public endpoint of the integration."""
    host = urlsplit(endpoint).netloc
    return bool(host) and urlsplit(address).netloc == host


async def read_options(engine: Downloader, call: Operation[Any], address: str) -> list[tuple[str, str]]:
    """The options at an address: their values, and their labels as display text.

    Args:
        engine: downloads them; no token is sent.
        call: the call whose answer has the address, for error messages.
        address: an absolute web address.

    Raises:
        RequestError: they cannot be downloaded, or they are no options.
    """
    content = await engine.download(call, address)
    try:
        found: Any = json.loads(content)
    except ValueError:
        raise MalformedAnswer("The integration answered with no JSON for the options", request=str(call)) from None
    if isinstance(found, dict):
        found = cast("dict[str, Any]", found).get("items")
    if not isinstance(found, list):
        raise MalformedAnswer("The integration answered with no list of options", request=str(call))
    given = [cast("dict[str, Any]", each) for each in cast("list[Any]", found)[:MOST] if isinstance(each, dict)]
    options: list[tuple[str, str]] = []
    for option in given:
        value = option.get("id", option.get("value"))
        if isinstance(value, str | int):
            options.append((str(value), sanitize(str(option.get("label") or value))))
    return options
