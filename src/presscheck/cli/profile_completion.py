"""Completion of the values of `--profile`."""

from __future__ import annotations

import click

from presscheck.config.validation import profile_names
from presscheck.paths import places


def complete_profile(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of the profiles in the settings file that begin with a text."""
    return [name for name in profile_names(places().config_file) if name.startswith(incomplete)]
