"""What the environment says of connections: proxies, certificate authorities, the log of TLS keys.

httpx reads the same variables, but its errors do not name them, and some are no errors of httpx.
"""

from __future__ import annotations

import logging
import os
import re
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from presscheck.client.base_url import Address
from presscheck.client.http_library import httpx
from presscheck.errors import ConfigurationError, MissingExtra
from presscheck.extras import require_extra

SCHEMES = ("http", "https", "socks5", "socks5h")
SOCKS_PORT = 1080
_user = re.compile(r"(?<=//)[^/]*@")


class EnvironmentProxy(NamedTuple):
    """A proxy that the environment names, and its variable and value for messages, without the password."""

    server: httpx.Proxy
    origin: str


def proxy_for(url: str) -> EnvironmentProxy | None:
    """The proxy for requests to a URL, by ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``.

    ``socks://``, which desktops set, is SOCKS 5; a SOCKS proxy also resolves the host name.

    Raises:
        ConfigurationError: the value of the variable is not the URL of a proxy.
        MissingExtra: it is a SOCKS proxy, whose library is not installed.
    """
    target, proxies = urlsplit(url), getproxies()
    kind = next((kind for kind in (target.scheme, "all") if proxies.get(kind)), None)
    if kind is None or proxy_bypass(target.netloc):
        return None
    text = proxies[kind].strip()
    text = text if "://" in text else f"http://{text}"
    where = f"{_variable(kind)}={_user.sub('…@', text)}"
    scheme = text.partition(":")[0].lower()
    scheme = "socks5" if scheme == "socks" else scheme
    try:
        parts = urlsplit(text)
        port = parts.port
        if scheme not in SCHEMES:
            raise ConfigurationError(f"{where}: {scheme}:// is not supported; use http://, https:// or socks5://")
        if not parts.hostname or port == 0 or not re.fullmatch(r"[\x21-\x7e]+", parts.netloc):
            raise ConfigurationError(f"{where}: is not the URL of a proxy; use http://HOST:PORT")
        if scheme.startswith("socks"):
            require_extra("socks")
        # without a path: desktops end the URL with a slash
        place = parts.netloc if port or not scheme.startswith("socks") else f"{parts.netloc.rstrip(':')}:{SOCKS_PORT}"
        return EnvironmentProxy(httpx.Proxy(f"{scheme}://{place}"), where)
    except MissingExtra as error:
        raise MissingExtra(f"{where}: {error.message}") from None
    except (ValueError, httpx.InvalidURL) as error:
        raise ConfigurationError(f"{where}: {error}; use http://HOST:PORT") from None


def host_and_proxy(address: Address) -> str:
    """The host of an address for messages, with the proxy on the way to it."""
    proxy = None if address.is_local else proxy_for(address.url)
    return f"{address.host} through {proxy.origin}" if proxy else address.host


def tls_context() -> ssl.SSLContext:
    """The TLS context with the trusted certificate authorities, including ``SSL_CERT_FILE``; slow to create.

    Raises:
        ConfigurationError: a variable names a file that cannot be used.
    """
    logging.getLogger("hpack").setLevel(logging.INFO)  # at DEBUG it logs all headers, including the token
    directory = os.environ.get("SSL_CERT_DIR")
    if directory and not os.environ.get("SSL_CERT_FILE") and not Path(directory.split(os.pathsep)[0]).is_dir():
        raise ConfigurationError(f"SSL_CERT_DIR={directory}: is not a folder")
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # among them ssl.SSLError
        raise ConfigurationError(_tls_problem(error)) from None


def _tls_problem(error: OSError) -> str:
    """Find the variable by trying each file again: the error itself does not name it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    uses: Mapping[str, Callable[[str], None]] = {
        "SSL_CERT_FILE": lambda file: context.load_verify_locations(cafile=file),
        "SSLKEYLOGFILE": lambda file: setattr(context, "keylog_filename", file),
    }
    for name, use in uses.items():
        value = os.environ.get(name)
        if not value:
            continue
        try:
            use(value)
        except OSError as problem:
            no_certificates = isinstance(problem, ssl.SSLError)
            return f"{name}={value}: {'has no certificates' if no_certificates else problem.strerror or problem}"
    return f"TLS cannot be used: {error.strerror or error}"


def _variable(kind: str) -> str:
    """The name of the variable with the proxy; lower case counts first, as for `getproxies`."""
    names = (f"{kind}_proxy", f"{kind.upper()}_PROXY")
    return next((name for name in names if os.environ.get(name)), "the proxy of the system")
