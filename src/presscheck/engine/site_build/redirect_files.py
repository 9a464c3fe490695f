"""Redirects of a static site in the formats of web hosts: Netlify and Cloudflare, Vercel, nginx, and plain HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import quote

STATUS = 302
"""The status of redirects: temporary, as in the service."""
FILES = ("_redirects", "vercel.json", "redirects.nginx.conf")
_CONTROLS = dict.fromkeys(range(32))


class StaticRedirect(NamedTuple):
    """A redirect from a path of the site, without its base, to a URL."""

    source: str
    target: str


def redirect_files(redirects: Sequence[StaticRedirect], top: str) -> dict[str, str]:
    """Return the contents of the redirect files, by file name.

    Args:
        redirects: the redirects, with targets that begin with a slash or a scheme.
        top: the path of the site on its host, which ends with a slash.
    """
    plain = [(quote(top + source), target) for source, target in redirects]
    vercel = {
        "trailingSlash": True,
        "redirects": [{"source": source, "destination": target, "permanent": False} for source, target in plain],
    }
    lines = ["# In the http block. In the server block: if ($site_redirect) { return 302 $site_redirect; }"]
    lines += ["map $uri $site_redirect {", '    default "";']
    for source, target in redirects:
        path = (top + source).translate(_CONTROLS).replace("\\", "\\\\").replace('"', '\\"')
        leads = target.replace("\\", "%5C").replace('"', "%22").replace("$", "%24")
        lines += (f'    "{path}" "{leads}";', f'    "{path}/" "{leads}";')
    return {
        "_redirects": "".join(f"{source} {target} {STATUS}\n" for source, target in plain),
        "vercel.json": json.dumps(vercel, indent=2) + "\n",
        "redirects.nginx.conf": "\n".join((*lines, "}\n")),
    }


def redirect_page(target: str) -> str:
    """Return an HTML page that redirects to a URL, for hosts that support none of the other formats."""
    url = escape(target)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Page moved</title>\n'
        f'<meta name="robots" content="noindex">\n<meta http-equiv="refresh" content="0; url={url}">\n</head>\n'
        f'<body><p>This page has moved: <a href="{url}">{url}</a></p></body>\n</html>\n'
    )
