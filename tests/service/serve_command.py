"""Helpers that run `presscheck serve` in this process and write documentation for it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from presscheck.cli.main import command


def run(*words: str) -> Result:
    return CliRunner().invoke(command, ["serve", *words])


def repository_with_problems(directory: Path) -> Path:
    """Create a repository with two broken links."""
    repository = directory / "handbook"
    repository.mkdir()
    (repository / "SUMMARY.md").write_text("* [Start](README.md)\n", "utf-8")
    (repository / "README.md").write_text("# Start\n\n[a](gone-a.md)\n\n[b](gone-b.md)\n", "utf-8")
    return repository
