"""Run tests three times on a busy machine: `python -m tests.load TEST ...`.

Two processes with endless loops run beside them. Tests that wait for a time instead of a condition fail here.
"""

import subprocess
import sys
import time
from collections.abc import Sequence

from tests.root import ROOT

ROUNDS = 3
LOOPS = 2
LIMIT = 30 * 60
"""Maximum duration of all rounds, in seconds."""


def main(tests: Sequence[str]) -> int:
    """Run the rounds. Returns the exit code."""
    command = [sys.executable, "-m", "pytest", "-n", "6", "--dist", "worksteal", *tests]
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(LOOPS)]
    end = time.monotonic() + LIMIT
    try:
        codes = [subprocess.run(command, cwd=ROOT, timeout=end - time.monotonic()).returncode for _ in range(ROUNDS)]
    except subprocess.TimeoutExpired:
        sys.stdout.write(f"not done after {LIMIT // 60} minutes\n")
        return 1
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    sys.stdout.write(f"{codes.count(0)} of {ROUNDS} rounds passed\n")
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
