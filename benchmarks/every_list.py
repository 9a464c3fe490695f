"""Times a key in all lists, pages and diffs, compared with a bare list with a pane (`drawn_panes`).

Usage: python -m benchmarks.every_list [-n RUNS] [PLACE ...]. The sample workspace runs in a pseudo-terminal of 120×40;
`j` and `k` are pressed in turn, each until the screen is quiet. Program and baseline run in turn.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.running_service import RunningService, running_service

from benchmarks.tty_stopwatch import Measurement, Terminal

SIZE = (120, 40)
QUIET = 0.08
PRESSES = 40
INBOX = "wait:live quiet:900 "
REVIEW = INBOX + "keys:enter*1 wait:Can_merge quiet:900 "
TREE = INBOX + "keys:g*1 keys:o*1 wait:API_docs quiet:900 "
PAGES = TREE + "keys:j*1 keys:j*1 keys:enter*1 wait:Tokens quiet:900 keys:j*1 quiet:900 "
SITES = INBOX + "keys:g*1 keys:p*1 wait:●_live quiet:900 "
ADMIN = INBOX + "keys:g*1 keys:a*1 wait:Organizations quiet:900 "
PLACES = {
    "inbox": INBOX,
    "changes of a request": REVIEW,
    "difference": REVIEW + "keys:tab*1 quiet:300",
    "threads of a request": REVIEW + "keys:g*1 keys:t*1 quiet:900",
    "tree of the organization": TREE,
    "tree of pages": PAGES,
    "page": PAGES + "keys:tab*1 quiet:300",
    "revisions of a page": PAGES + "keys:g*1 keys:h*1 quiet:900",
    "links and files": REVIEW + "keys:g*1 keys:l*1 wait:Links quiet:900",
    "sites": SITES,
    "structure of a site": SITES + "keys:g*1 keys:u*1 quiet:900",
    "findings of a site": SITES + "keys:W*1 quiet:1500",
    "customization of a site": SITES + "keys:g*1 keys:y*1 quiet:900",
    "administration": ADMIN,
    "members": ADMIN + "keys:j*1 quiet:900 keys:enter*1 quiet:900",
    "permissions": TREE + "keys:j*1 quiet:300 keys:g*1 keys:w*1 quiet:900",
    "keys": INBOX + "keys:?*1 quiet:600",
}
"""The steps to each place, in the syntax of `benchmarks/tty_stopwatch.py`."""
FLOOR = "wait:Row_1 quiet:900"


def pressed(command: list[str], steps: str, environment: dict[str, str]) -> tuple[float, float, str]:
    """Return the median time of a key in milliseconds, the bytes per key, and the screen at the end."""
    os.environ.update(environment)
    terminal = Terminal(command, *SIZE, 40)
    try:
        Measurement(terminal, QUIET).run(steps.split())
        sent, times = terminal.sent, list[float]()
        for number in range(PRESSES):
            measurement = Measurement(terminal, QUIET)
            measurement.run([f"keys:{'jk'[number % 2]}*1"])
            times.append(measurement.results[f"keys:{'jk'[number % 2]}*1"][0])
        return median(times), (terminal.sent - sent) / PRESSES, terminal.text()
    finally:
        terminal.close()


def row(name: str, service: RunningService, home: Path, runs: int, show: Callable[[str], None]) -> str:
    """Measure a place. Returns its row of the table."""
    app = [sys.executable, "-m", "presscheck"]
    floor = [sys.executable, "-m", "benchmarks.drawn_panes", "--rows", "500"]
    floor += ["--below"] if name.startswith("inbox") else []
    environment = {
        "PRESSCHECK_HOME": str(home),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
    }
    ours, floors = list[tuple[float, float]](), list[tuple[float, float]]()
    for _ in range(runs):
        *figures, screen = pressed(app, PLACES[name], environment)
        ours.append((figures[0], figures[1]))
        show(screen)
        *figures, _ = pressed(floor, FLOOR, {})
        floors.append((figures[0], figures[1]))
    time, size = (median(figures) for figures in zip(*ours, strict=True))
    floor_time, floor_size = (median(figures) for figures in zip(*floors, strict=True))
    return (
        f"| {name} | {time:.1f} ms, {size / 1000:.1f} kB | {floor_time:.1f} ms, {floor_size / 1000:.1f} kB "
        f"| {time / floor_time:.2f}, bytes {size / floor_size:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=3, help="runs of each place")
    parser.add_argument("--screens", action="store_true", help="print the last screen of each place, too")
    parser.add_argument("places", nargs="*", metavar="PLACE", help="only these")
    options = parser.parse_args()
    print("| what | presscheck | list and pane | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "service").mkdir()
        with running_service(home / "service", sample=True) as service:
            for name in options.places or PLACES:
                try:
                    line = row(name, service, home / "home", options.n, print if options.screens else lambda _: None)
                except TimeoutError as error:
                    line = f"| {name} | not measured: {str(error).splitlines()[0]} | | |"
                print(line, flush=True)


if __name__ == "__main__":
    main()
