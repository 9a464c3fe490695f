"""Compares the largest page in presscheck, in frogmouth and in Textual's `MarkdownViewer`, in turn in one run.

Usage: python -m benchmarks.page_viewers HOME [-n RUNS] [--frogmouth PATH]. `benchmarks.workspace` serves HOME.
Frogmouth needs an older Textual, so it has an environment of its own: `python -m venv /tmp/frogmouth` and
`/tmp/frogmouth/bin/pip install frogmouth`; without `--frogmouth` it is left out.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.tty_stopwatch import Results, measure

READ = "quiet:1000 key:pgdn keys:pgdn*10 keys:down*20"
"""Steps after the text is shown; the first key is measured separately because the program may still be starting."""
WAYS = {
    "presscheck": "wait:Needs quiet:500 keys:g*1 keys:o*1 wait:docs keys:j*1 keys:enter*1 wait:Short keys:j*1 "
    f"key:enter wait:Sentence_1_of {READ} quit:ctrl+q",
    "frogmouth": f"wait:Sentence_1_of {READ} quit:ctrl+q",
    "MarkdownViewer": f"wait:Sentence_1_of {READ} quit:ctrl+q",
}


def opening(results: Results) -> float:
    """Return the milliseconds from the start of the program until the text is shown."""
    total = 0.0
    for step, (milliseconds, _) in results.items():
        if not step.endswith("p95"):
            total += milliseconds
        if step == "wait:Sentence_1_of":
            break
    return total


def row(name: str, runs: list[Results]) -> str:
    """Return a row of the table with the medians of all runs."""

    def median(step: str, which: int = 0) -> float:
        return statistics.median(results[step][which] for results in runs)

    keys = [f"{median(step):,.1f} ms, {median(step, 1) / 1000:,.1f} kB" for step in ("keys:pgdn*10", "keys:down*20")]
    whole = statistics.median(map(opening, runs)) / 1000
    seen = median("wait:Sentence_1_of") + (median("key:enter") if "key:enter" in runs[0] else 0)
    memory = median("memory KiB") / 1024
    return f"| {name} | {seen:,.0f} ms | {whole:,.1f} s | {' | '.join(keys)} | {memory:,.0f} MB |"


def main() -> None:
    """Measure all programs in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("-n", type=int, default=3)
    parser.add_argument("--frogmouth", help="the program, in an environment of its own")
    parser.add_argument("--timeout", type=float, default=400)
    options = parser.parse_args()
    page = str(options.home / "docs" / "README.md")
    commands = {
        "presscheck": ["env", f"PRESSCHECK_HOME={options.home}", sys.executable, "-m", "presscheck"],
        "MarkdownViewer": [sys.executable, "-m", "benchmarks.markdown_viewer", page],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):  # frogmouth stores a history there
            os.environ[name] = folder
        if options.frogmouth:
            commands["frogmouth"] = [options.frogmouth, page]
        runs: dict[str, list[Results]] = {name: [] for name in commands}
        for _ in range(options.n):
            for name, command in commands.items():
                runs[name].append(measure(command, WAYS[name].split(), "120x40", options.timeout, 0.08))
    print("| program | text seen | from the shell | page down | line down | memory |\n|---|---|---|---|---|---|")
    for name in commands:
        print(row(name, runs[name]), flush=True)


if __name__ == "__main__":
    main()
