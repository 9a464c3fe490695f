"""`presscheck site build`: writes a published site as static files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import click

from presscheck.api.site_settings import GetPreview
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.output import print_message
from presscheck.cli.progress_line import ProgressLine
from presscheck.cli.session import Session, org_option, with_session
from presscheck.engine.site_build.build_folder import BuildFolder
from presscheck.engine.site_build.site_build import build_site
from presscheck.errors import ChecksFailed, InvalidArgument
from presscheck.text.phrases import count
from presscheck.text.sanitize import is_safe_url

OPEN = ("public", "unlisted")
"""Visibilities of sites that everyone can read."""


@click.command()
@click.argument("site")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Replace an earlier build of the site.")
@click.option("--base-url", metavar="URL", help="The address of the copy, for the sitemap and redirects.")
@click.option("--share-link", is_flag=True, help="Also build a site that is shared by link.")
@org_option
@with_session
@sends(GetPreview)
async def build(
    session: Session, site: str, folder: Path, org: str | None, base_url: str | None, *, replace: bool, share_link: bool
) -> None:
    """Write a published site as static files.

    Writes all pages, files and redirects that a visitor sees to DIR, with a search that needs no service. DIR must be
    empty, or contain an earlier build of the site. Files that are not from an earlier build are kept.

    Only sites of the local service can be built.
    """
    owner, chosen = await lookup.site(session, site, org)
    if not chosen.published:
        raise ChecksFailed(f"{chosen.title} is not published. Run `presscheck site publish` first")
    if chosen.visibility == "share-link" and not share_link:
        raise ChecksFailed(
            f"{chosen.title} is shared by link, and everybody can read a build. Pass --share-link to build"
        )
    if chosen.visibility not in (*OPEN, "share-link"):
        raise ChecksFailed(f"{chosen.title} has limited access ({chosen.visibility}), and everybody can read a build")
    target = BuildFolder(folder, chosen.id, may_replace=replace)
    line = ProgressLine()
    try:
        result = await build_site(
            session.engine,
            chosen,
            owner.id,
            target,
            _base_url(base_url),
            lambda done, known: line.update(f"{done:,} of {count(known, 'file')} read"),
        )
    finally:
        line.clear()
    if result.removed_scripts:
        print_message("Scripts of integrations are left out: they need the service.")
    if session.json:
        numbers = {"pages": result.pages, "redirects": result.redirects, "files": result.files, "bytes": result.size}
        session.show({"site": chosen.id, "directory": str(folder), **numbers, "changed": result.changed})
    else:
        click.echo(
            f"{count(result.pages, 'page')}, {count(result.redirects, 'redirect')}, {count(result.files, 'file')};"
            f" {result.changed} changed"
        )


def _base_url(text: str | None) -> str | None:
    """Validate --base-url. Return it with a trailing slash, or None if it is not given.

    Raises:
        InvalidArgument: the value is not a web address, or has a query or a fragment.
    """
    if text is None:
        return None
    parts = urlsplit(text)
    is_address = text.startswith(("http://", "https://")) and is_safe_url(text)
    if not (is_address and parts.netloc) or parts.query or parts.fragment:
        raise InvalidArgument("--base-url", "must be a web address, such as https://docs.example.org/")
    return f"{text.rstrip('/')}/"
