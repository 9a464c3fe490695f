"""`presscheck skill`: prints how an agent triages, reviews and edits."""

from __future__ import annotations

from pathlib import Path

import click

from presscheck import agents
from presscheck.cli.exit_codes import report_errors

FRONT_MATTER = """---
name: presscheck
description: Triage, review and edit documentation with presscheck. Use it for change requests, pages and spaces.
---

"""
"""The header by which agents decide when to read a skill. The manual lacks it, because it would be shown as text."""
_PACKAGED = Path(agents.__file__).with_name("SKILL.md")
# in a checkout the manual is at the root of the repository; a wheel has this page in the package
_IN_CHECKOUT = Path(agents.__file__).parents[3] / "docs" / "agents" / "SKILL.md"


@click.command()
@report_errors
def skill() -> None:
    """Print how an agent triages, reviews and edits.

    Save it where your agent reads its skills.
    """
    file = _PACKAGED if _PACKAGED.is_file() else _IN_CHECKOUT
    click.echo(FRONT_MATTER + file.read_text("utf-8"), nl=False)
