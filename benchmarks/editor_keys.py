"""Processor time of a key in the built-in editor with preview: a page of 5,000 lines compared with one of 60.

Usage: python -m benchmarks.editor_keys [-n KEYS]. The app runs in this process without a terminal, at 120×40, on the
sample workspace. Each key waits until the preview shows it; a burst does not.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from tests.running_service import RunningService, running_service
from tests.tui.change_request_factory import begun
from tests.tui.markdown_editor import editing, editor

SHORT, LONG = 60, 5_000
PREVIEWED = 0.4
"""Pause in seconds after a key, until the preview shows it."""
SECTION = """\
## Section {number}

Line {number} of **many** words with `code` and [a link](page-{number}.md), and so on for a good while.

- an item
- another

```python
print(1)
```

"""
CONFLICT = "<<<<<<< change request\nmine\n=======\ntheirs\n>>>>>>> live\n\n"


def page(lines: int, *, has_conflict: bool) -> str:
    sections = "".join(SECTION.format(number=number) for number in range(lines // SECTION.count("\n")))
    return f"A key lasts for ever.\n\n{CONFLICT if has_conflict else ''}{sections}"


async def costs(pilot: Any, keys: int, pause: float) -> float:
    """Return the median processor time of a key in milliseconds."""
    times = list[float]()
    for number in range(keys):
        start = process_time()
        await pilot.press("x" if number % 2 else "backspace")
        if pause:
            await pilot.pause(pause)
        times.append(process_time() - start)
    return median(times) * 1000


async def measured(service: RunningService, home: Path, text: str, keys: int) -> tuple[float, float]:
    """Return the times of a key with a pause for the preview, and of a key in a burst, in the middle of a page."""
    change_request = await begun(service, "Editor keys", text)
    async with editing(service, home, change_request) as pilot:
        area = editor(pilot).area
        area.move_cursor((area.document.line_count // 2, 0), center=True)
        await pilot.pause(1.5)
        await costs(pilot, 4, PREVIEWED)  # the first keys import modules
        return await costs(pilot, keys, PREVIEWED), await costs(pilot, keys, 0)


async def compare(keys: int) -> None:
    print("| a key in the editor | 5,000 lines | 60 lines | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "service").mkdir()
        with running_service(Path(folder) / "service", sample=True) as service:
            for has_conflict in (False, True):
                short, long = [
                    await measured(service, Path(folder) / f"{lines}", page(lines, has_conflict=has_conflict), keys)
                    for lines in (SHORT, LONG)
                ]
                for name, long_time, short_time in zip(
                    ("until the preview shows it", "in a burst"), long, short, strict=True
                ):
                    label = f"{name}, with a conflict" if has_conflict else name
                    print(
                        f"| {label} | {long_time:.1f} ms | {short_time:.1f} ms | {long_time / short_time:.2f} |",
                        flush=True,
                    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=30, help="keys of each measurement")
    asyncio.run(compare(parser.parse_args().n))


if __name__ == "__main__":
    main()
