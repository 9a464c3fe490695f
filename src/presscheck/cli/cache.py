"""`presscheck cache`: where it is, how large it is, and emptying it; the outbox is another file, and stays."""

from __future__ import annotations

from pathlib import Path

import click

from presscheck.cli.exit_codes import says_what_failed
from presscheck.cli.output import print_json, print_rows, talk
from presscheck.cli.session import confirm, json_option, load_profile, profile_option
from presscheck.errors import StoreError
from presscheck.paths import places
from presscheck.store import cache_files
from presscheck.store.cache_files import caches_in


@click.group()
def cache() -> None:
    """Manage the local cache: `size`, `clear`, `path`."""


@cache.command("path")
@json_option
@says_what_failed
def path(*, as_json: bool) -> None:
    """Print the cache directory."""
    where = str(places().cache)
    if as_json:
        print_json({"path": where})
    else:
        click.echo(where)


@cache.command("size")
@json_option
@profile_option
@click.pass_context
@says_what_failed
def size(context: click.Context, *, as_json: bool) -> None:
    """Print the size, contents and limit of each cache."""
    most = load_profile(context, with_token=False).cache_size
    try:
        found = caches_in(places().cache)
    except OSError as error:
        raise StoreError(f"Could not read {places().cache}: {error.strerror}") from None
    rows = [{"file": one.path.name, "bytes": one.bytes, "answers": one.answers, "things": one.things} for one in found]
    total = sum(one.bytes for one in found)
    if as_json:
        print_json({"bytes": total, "limitBytes": most * 1_000_000, "path": str(places().cache), "caches": rows})
        return
    print_rows(rows, ("file", "bytes", "answers", "things"))
    talk(f"{_mb(total)} in total; limit per cache: {most:,} MB (cache_size in {places().config_file}).")


@cache.command("clear")
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation.")
@json_option
@says_what_failed
def clear(*, yes: bool, as_json: bool) -> None:
    """Delete cached data; unsent changes, drafts and bookmarks stay."""
    confirm(f"Delete all cached data in {places().cache}?", yes=yes)
    freed = _cleared(places().cache)
    if as_json:
        print_json({"freedBytes": freed})
    else:
        talk(f"Cache cleared: {_mb(freed)} freed.")


def _cleared(directory: Path) -> int:
    try:
        return cache_files.clear(directory)
    except OSError as error:
        raise StoreError(f"Could not clear {directory}: {error.strerror}") from None


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"
