"""Times `presscheck check` of a folder of 1,000 pages, compared with parsing the same pages.

Usage: python -m benchmarks.folder_checks [--rounds N] [DIR ...]. Without DIR, checks generated repositories of 1,000
pages: of ordinary prose, and of short pages beside one of 400 kB. In turn: reads and parses every text, reads the
repository as an import does, and checks the folder. Medians in milliseconds of the processor, and their ratios to
parsing.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

from tests.generated_docs.repositories import handbook, tree

from presscheck.documents.git_format.checks import check_folder
from presscheck.documents.git_format.files import RepositoryFiles
from presscheck.documents.git_format.repository import read_repository
from presscheck.documents.markdown.parser import parse


def parse_all(directory: Path) -> None:
    files = RepositoryFiles(directory)
    for source in files.texts():
        parse(files.text(source).text, {})


STEPS: dict[str, Callable[[Path], object]] = {
    "read and parsed": parse_all,
    "read as an import": read_repository,
    "checked": check_folder,
}


def compare(name: str, directory: Path, rounds: int) -> None:
    times: dict[str, list[float]] = {step: [] for step in STEPS}
    for _ in range(rounds):
        for step, work in STEPS.items():
            start = process_time()
            work(directory)
            times[step].append((process_time() - start) * 1000)
    floor = median(times["read and parsed"])
    for step, durations in times.items():
        print(f"{name:16}{step:20}{median(durations):8.0f} ms {median(durations) / floor:6.2f}")


def main() -> None:
    """Measure generated repositories, or the folders in the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("folders", nargs="*", type=Path)
    arguments = parser.parse_args()
    folders: list[Path] = arguments.folders
    for folder in folders:
        compare(folder.name, folder, arguments.rounds)
    for generated in () if folders else (handbook("benchmark", 1_000), tree("benchmark", 1_000)):
        with tempfile.TemporaryDirectory() as directory:
            compare(generated.name, generated.write(Path(directory)), arguments.rounds)


if __name__ == "__main__":
    main()
