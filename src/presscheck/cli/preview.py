"""`presscheck preview`: shows a documentation folder as its published site."""

from __future__ import annotations

from pathlib import Path

import click

from presscheck.cli.exit_codes import report_errors
from presscheck.cli.serve import port_option
from presscheck.wiring import preview_folder


@click.command()
@click.argument(
    "directory", metavar="[DIR]", default=".", type=click.Path(path_type=Path, file_okay=False, exists=True)
)
@port_option(8301)
@report_errors
def preview(directory: Path, *, port: int) -> None:
    """Show a documentation folder as its published site.

    DIR is a folder in the Git format of the platform, by default this one. Prints the address of the site, which only
    this machine can open. Pages in the browser change when files change. Nothing is kept after the preview. The extra
    `serve` is required.
    """
    preview_folder(directory, port)
