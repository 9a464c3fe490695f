"""Proxies and TLS settings from environment variables.

httpx reads the same variables. But its error messages do not name them, and some of its errors are not httpx
exceptions. The functions of this module raise a `ConfigurationError` with the variable and its value.
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

import httpx

from presscheck.client.base_url import Address
from presscheck.errors import ConfigurationError, MissingExtra
from presscheck.extras import require_extra

SCHEMES = ("http", "https", "socks5", "socks5h")
SOCKS_PORT = 1080
_user = re.compile(r"(?<=//)[^/]*@")


class EnvironmentProxy(NamedTuple):
    """A proxy from an environment variable or from the settings of the system."""

    server: httpx.Proxy
    origin: str
    """The variable and its value, for messages; without user name and password."""


def proxy_for(url: str) -> EnvironmentProxy | None:
    """Find the proxy for a URL from ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``.

    ``socks://``, which desktops set, means SOCKS 5. A SOCKS proxy also resolves the host name.

    Returns:
        The proxy, or None for direct requests.

    Raises:
        ConfigurationError: the value of the variable is not the URL of a proxy.
        MissingExtra: the proxy is a SOCKS proxy, and the extra ``socks`` is not installed.
    """
    target, proxies = urlsplit(url), getproxies()
    kind = next((kind for kind in (target.scheme, "all") if proxies.get(kind)), None)
    if kind is None or proxy_bypass(target.netloc):
        return None
    text = proxies[kind].strip()
    text = text if "://" in text else f"http://{text}"
    origin = f"{_variable(kind)}={_user.sub('…@', text)}"
    scheme = text.partition(":")[0].lower()
    scheme = "socks5" if scheme == "socks" else scheme
    try:
        parts = urlsplit(text)
        port = parts.port
        if scheme not in SCHEMES:
            raise ConfigurationError(f"{origin}: {scheme}:// is not supported; use http://, https:// or socks5://")
        if not parts.hostname or port == 0 or not re.fullmatch(r"[\x21-\x7e]+", parts.netloc):
            raise ConfigurationError(f"{origin}: is not the URL of a proxy; use http://HOST:PORT")
        if scheme.startswith("socks"):
            require_extra("socks")
        # the path is left out: desktops end the URL with a slash
        server = parts.netloc if port or not scheme.startswith("socks") else f"{parts.netloc.rstrip(':')}:{SOCKS_PORT}"
        return EnvironmentProxy(httpx.Proxy(f"{scheme}://{server}"), origin)
    except MissingExtra as error:
        raise MissingExtra(f"{origin}: {error.message}") from None
    except (ValueError, httpx.InvalidURL) as error:
        raise ConfigurationError(f"{origin}: {error}; use http://HOST:PORT") from None


def host_and_proxy(address: Address) -> str:
    """Return the host of an address for messages, with the proxy if requests use one."""
    proxy = None if address.is_local else proxy_for(address.url)
    return f"{address.host} through {proxy.origin}" if proxy else address.host


def tls_context() -> ssl.SSLContext:
    """Create the TLS context, which is slow because it loads the trusted certificate authorities.

    The authorities are read from ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``, otherwise from certifi. TLS keys are logged to
    ``SSLKEYLOGFILE``.

    Raises:
        ConfigurationError: a variable names a file or folder that cannot be used.
    """
    logging.getLogger("hpack").setLevel(logging.INFO)  # the level DEBUG would log all headers, including the token
    directory = os.environ.get("SSL_CERT_DIR")
    if directory and not os.environ.get("SSL_CERT_FILE") and not Path(directory.split(os.pathsep)[0]).is_dir():
        raise ConfigurationError(f"SSL_CERT_DIR={directory}: is not a folder")
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # including its subclass ssl.SSLError
        raise ConfigurationError(_tls_problem(error)) from None


def _tls_problem(error: OSError) -> str:
    """Return the message for a TLS error.

    The error does not name the variable that caused it, so the file of each variable is tried again.
    """
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
    """Return the name of the variable that sets the proxy, or the words for a proxy from the system settings.

    As in `getproxies`, a name in lower case has priority.
    """
    names = (f"{kind}_proxy", f"{kind.upper()}_PROXY")
    return next((name for name in names if os.environ.get(name)), "the proxy of the system")
