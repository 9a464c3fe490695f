"""`presscheck cache`: path, size and clearing of the local cache. The outbox is a separate file, which stays."""

from __future__ import annotations

from pathlib import Path

import click

from presscheck.cli.exit_codes import report_errors
from presscheck.cli.output import print_json, print_message, print_rows
from presscheck.cli.session import confirm, json_option, load_profile, profile_option, yes_option
from presscheck.errors import StoreError
from presscheck.paths import places
from presscheck.store import cache_files
from presscheck.store.cache_files import caches_in


@click.group()
def cache() -> None:
    """Manage the local cache."""


@cache.command("path")
@json_option
@report_errors
def path(*, as_json: bool) -> None:
    """Print the path of the cache directory."""
    where = str(places().cache)
    if as_json:
        print_json({"path": where})
    else:
        click.echo(where)


@cache.command("size")
@json_option
@profile_option
@click.pass_context
@report_errors
def size(context: click.Context, *, as_json: bool) -> None:
    """Show the size and the limit of each cache."""
    limit = load_profile(context, with_token=False).cache_size
    try:
        caches = caches_in(places().cache)
    except OSError as error:
        raise StoreError(f"Could not read {places().cache}: {error.strerror}") from None
    rows = [
        {"file": cache.path.name, "bytes": cache.bytes, "answers": cache.answers, "things": cache.things}
        for cache in caches
    ]
    total = sum(cache.bytes for cache in caches)
    if as_json:
        print_json({"bytes": total, "limitBytes": limit * 1_000_000, "path": str(places().cache), "caches": rows})
        return
    print_rows(rows, ("file", "bytes", "answers", "things"))
    print_message(f"{_mb(total)} in total; limit per cache: {limit:,} MB (cache_size in {places().config_file}).")


@cache.command("clear")
@yes_option
@json_option
@report_errors
def clear(*, yes: bool, as_json: bool) -> None:
    """Delete cached data.

    Unsent changes, drafts and bookmarks are kept.
    """
    confirm(f"Delete all cached data in {places().cache}?", yes=yes)
    freed = _cleared(places().cache)
    if as_json:
        print_json({"freedBytes": freed})
    else:
        print_message(f"Cache cleared: {_mb(freed)} freed.")


def _cleared(directory: Path) -> int:
    try:
        return cache_files.clear(directory)
    except OSError as error:
        raise StoreError(f"Could not clear {directory}: {error.strerror}") from None


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"
