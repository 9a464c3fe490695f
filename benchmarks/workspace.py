"""A workspace of a size that hurts: 10,000 open change requests, and a space with a page of 1 MB.

Usage: python -m benchmarks.workspace HOME [--requests N]. Serves it until it is stopped, and writes a configuration,
so that `PRESSCHECK_HOME=HOME presscheck` opens it.
"""

import argparse
from pathlib import Path

from presscheck.service.database import Database
from presscheck.service.identity import system_clock
from presscheck.service.running import ServeOptions, serve
from presscheck.service.sample import plant_many

PAGE = 1_000_000
"""Bytes of the large page."""

CONFIGURATION = """\
[profiles.default]
base_url = "unix:{home}/service.sock"
token_file = "{home}/token"
"""


def chapter(number: int) -> str:
    """About 2 kB of a page with a little of everything."""
    sentence = f"Sentence {number} of a page that goes on, with a [link](short.md), `code` and **weight**. "
    return "\n\n".join(
        (
            f"## Chapter {number}",
            sentence * 6,
            "\n".join(f"{item}. Step {item} of chapter {number}" for item in range(1, 6)),
            "| Field | Type | What it is |\n| --- | --- | --- |\n" + "| `name` | string | how it is shown |\n" * 5,
            f'```python\ndef chapter_{number}() -> str:\n    return "{number}"\n```',
            f'{{% hint style="info" %}}\n{sentence * 3}\n{{% endhint %}}',
        )
    )


def write_documents(directory: Path) -> Path:
    """A documentation repository with one short and one large page."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SUMMARY.md").write_text("# Summary\n\n* [Large](README.md)\n* [Short](short.md)\n")
    chapters: list[str] = []
    while sum(map(len, chapters)) < PAGE:
        chapters.append(chapter(len(chapters) + 1))
    (directory / "README.md").write_text("# Large\n\n" + "\n\n".join(chapters) + "\n")
    (directory / "short.md").write_text(f"# Short\n\n{chapter(1)}\n")
    return directory


def main() -> None:
    """Make it where it is missing, and serve it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--requests", type=int, default=10_000)
    chosen = parser.parse_args()
    home: Path = chosen.home.absolute()
    (home / "config").mkdir(parents=True, exist_ok=True)
    (home / "config" / "config.toml").write_text(CONFIGURATION.format(home=home))
    database = f"sqlite:///{home / 'service.sqlite'}"
    if not (home / "service.sqlite").exists():
        made = Database(database)
        with made.writing.begin() as session:
            plant_many(session, chosen.requests, system_clock)
        made.close()
    options = ServeOptions(
        database=database,
        data=home,
        uds=home / "service.sock",
        token_file=home / "token",
        docs=(write_documents(home / "docs"),),
    )
    serve(options)


if __name__ == "__main__":
    main()
