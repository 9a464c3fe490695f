"""Time a terminal program from outside, as its user experiences it.

    python -m benchmarks.tty_stopwatch [-n RUNS] [--size 120x40] --steps 'STEPS' -- COMMAND [ARG ...] [--vs COMMAND ...]

Runs each command in a real pseudo-terminal, in turn (A B A B ...), and prints, per step, the median, minimum and
maximum in milliseconds and the bytes that the program sent to the terminal meanwhile, then the ratio A/B per step.

Steps, separated by spaces (underscore stands for a space in a text):
    wait:REGEX      until the screen shows REGEX                         (time to text)
    quiet:MS        until nothing was sent for MS milliseconds           (time to rest; the MS are not counted)
    key:NAME        press a key, until the first byte of the answer      (j, enter, esc, down, pgdn, ctrl+r, ...)
    keys:NAME*N     press a key N times, each after the last one rested; reports the per-key median and p95
    burst:NAME*N    press a key N times at once, until rest
    type:TEXT       type a text, until rest
    size:WxH        resize, until rest
    expect:REGEX    fail unless the screen shows REGEX now
    quit:NAME       press a key, until the program has ended

Answers the questions that a program asks a terminal at its start (device attributes, cursor position, mode reports,
colours), so that no program waits for an answer that never comes.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyte

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "space": " ",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pgup": "\x1b[5~",
    "pgdn": "\x1b[6~",
    "f1": "\x1bOP",
    "f5": "\x1b[15~",
}
ANSWERS = [
    (rb"\x1b\[c", b"\x1b[?62;22c"),
    (rb"\x1b\[>0?c", b"\x1b[>41;380;0c"),
    (rb"\x1b\[6n", b"\x1b[1;1R"),
    (rb"\x1b\[5n", b"\x1b[0n"),
    (rb"\x1b\[\?(\d+)\$p", b"\x1b[?%s;2$y"),
    (rb"\x1b\[\?u", b"\x1b[?0u"),
    (rb"\x1b\]11;\?(?:\x07|\x1b\\)", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
    (rb"\x1b\]10;\?(?:\x07|\x1b\\)", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
]
UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=?][\d;]*u|\x1b\[\?\d+\$p|\x1bP.*?\x1b\\")

Results = dict[str, tuple[float, float]]
"""Milliseconds and bytes by step."""


def key(name: str) -> str:
    """Return the input that a key sends."""
    return chr(ord(name[5:].lower()) - 96) if name.startswith("ctrl+") else KEYS.get(name, name)


class Terminal:
    """A program in a pseudo-terminal, with an emulated screen."""

    def __init__(self, command: list[str], columns: int, rows: int, timeout: float) -> None:
        self.timeout = timeout
        self.sent = 0
        self.peak = 0
        self.ended = False
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.start = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", COLUMNS=str(columns), LINES=str(rows))
            try:
                os.execvp(command[0], command)
            except OSError as error:
                print(error, flush=True)
                os._exit(127)
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def write(self, text: str | bytes) -> None:
        """Send input to the program."""
        os.write(self.fd, text.encode() if isinstance(text, str) else text)

    def read(self, wait: float) -> bytes:
        """Read output within `wait` seconds and draw it on the screen. Returns b"" if there is none."""
        if self.ended or not select.select([self.fd], [], [], wait)[0]:
            return b""
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return b""
        self.sent += len(data)
        for query, answer in ANSWERS:
            for match in re.finditer(query, data):
                self.write(answer % match.group(1) if b"%s" in answer else answer)
        # a sequence that pyte does not know must not abort the measurement
        with suppress(Exception):
            self.stream.feed(UNKNOWN_TO_PYTE.sub(b"", data))
        return data

    def text(self) -> str:
        """Return the text of the screen."""
        return "\n".join(self.screen.display)

    def until(self, is_done: Callable[[], object], what: str) -> float:
        """Read until a condition holds. Returns the time when it does."""
        limit = time.perf_counter() + self.timeout
        while not is_done():
            if self.ended:
                raise TimeoutError(f"ended while waiting for {what}\n{self.text().rstrip()}")
            if time.perf_counter() > limit:
                raise TimeoutError(f"no {what} in {self.timeout:g} s\n{self.text().rstrip()}")
            self.read(0.02)
        return time.perf_counter()

    def answer(self, before: int, what: str) -> float:
        """Read until the program has sent more than `before` bytes. Returns the time when it has."""
        return self.until(lambda: self.sent > before, what)

    def rest(self, quiet: float) -> float:
        """Read until the program has sent nothing for `quiet` seconds. Returns the time of the last byte."""
        last = time.perf_counter()
        limit = last + self.timeout
        while time.perf_counter() - last < quiet and not self.ended:
            if self.read(0.005):
                last = time.perf_counter()
            if last > limit:
                raise TimeoutError("never at rest")
        return last

    def memory(self) -> int:
        """Return the resident memory of the program and its children in KiB; 0 without /proc."""
        total, pending = 0, [self.pid]
        while pending:
            process = Path(f"/proc/{pending.pop()}")
            with suppress(OSError):
                status = re.search(r"VmRSS:\s+(\d+)", (process / "status").read_text())
                total += int(status[1]) if status else 0
                pending += map(int, (process / "task" / process.name / "children").read_text().split())
        return total

    def close(self) -> None:
        """Kill the program and close the terminal."""
        if not self.ended:
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Measurement:
    """A run of a command's steps."""

    def __init__(self, terminal: Terminal, quiet: float) -> None:
        self.terminal = terminal
        self.quiet = quiet
        self.results: Results = {}
        self._kinds: dict[str, Callable[[str], float]] = {
            "wait": self._wait,
            "quiet": lambda argument: terminal.rest(float(argument) / 1000),
            "key": self._key,
            "burst": self._burst,
            "type": self._type,
            "size": self._size,
            "quit": self._quit,
        }

    def run(self, steps: list[str]) -> Results:
        """Return the milliseconds and bytes of each step, and the peak memory as `memory KiB`."""
        for step in steps:
            kind, _, argument = step.partition(":")
            argument = argument.replace("_", " ")
            if kind == "expect":
                self._expect(argument)
            elif kind == "keys":
                self._keys(step, argument)
            elif kind in self._kinds:
                self._step(step, self._kinds[kind], argument)
            else:
                raise SystemExit(f"no such step: {step}")
        return self.results | {"memory KiB": (self.terminal.peak, 0)}

    def _step(self, step: str, act: Callable[[str], float], argument: str) -> None:
        before, begin = self.terminal.sent, time.perf_counter()
        if step.startswith("wait:") and not self.results:
            begin = self.terminal.start
        end = act(argument)
        self.results[step] = (max(0, end - begin) * 1000, self.terminal.sent - before)
        self.terminal.peak = max(self.terminal.peak, self.terminal.memory())

    def _wait(self, pattern: str) -> float:
        return self.terminal.until(lambda: re.search(pattern, self.terminal.text()), pattern)

    def _expect(self, pattern: str) -> None:
        if not re.search(pattern, self.terminal.text()):
            raise TimeoutError(f"not on screen: {pattern}\n{self.terminal.text().rstrip()}")

    def _key(self, name: str) -> float:
        before = self.terminal.sent
        self.terminal.write(key(name))
        end = self.terminal.answer(before, name)
        self.terminal.rest(self.quiet)
        return end

    def _keys(self, step: str, argument: str) -> None:
        name, _, count = argument.partition("*")
        first, times = self.terminal.sent, list[float]()
        for _ in range(int(count)):
            before, pressed = self.terminal.sent, time.perf_counter()
            self.terminal.write(key(name))
            self.terminal.answer(before, name)
            times.append((self.terminal.rest(self.quiet) - pressed) * 1000)
        times.sort()
        self.results[f"{step} p95"] = (times[int(len(times) * 0.95) - 1], 0)
        self.results[step] = (statistics.median(times), (self.terminal.sent - first) / len(times))

    def _burst(self, argument: str) -> float:
        name, _, count = argument.partition("*")
        self.terminal.write(key(name) * int(count))
        return self.terminal.rest(self.quiet)

    def _type(self, text: str) -> float:
        self.terminal.write(text)
        return self.terminal.rest(self.quiet)

    def _size(self, size: str) -> float:
        columns, rows = map(int, size.split("x"))
        self.terminal.resize(columns, rows)
        return self.terminal.rest(self.quiet)

    def _quit(self, name: str) -> float:
        begin = time.perf_counter()
        self.terminal.write(key(name))
        while not self.terminal.ended and time.perf_counter() - begin < self.terminal.timeout:
            self.terminal.read(0.02)
        return time.perf_counter()


def measure(command: list[str], steps: list[str], size: str, timeout: float, quiet: float) -> Results:
    """Run the steps of a command once."""
    columns, rows = map(int, size.split("x"))
    terminal = Terminal(command, columns, rows, timeout)
    try:
        return Measurement(terminal, quiet).run(steps)
    finally:
        terminal.close()


def report(commands: list[list[str]], runs: list[list[Results]]) -> None:
    """Print the times of each command and step, and the ratios of two commands."""
    for letter, command, results in zip("AB", commands, runs, strict=False):
        print(f"{letter}: {' '.join(command)}")
        for step in results[0]:
            times = [result[step][0] for result in results]
            print(
                f"  {step:28} median {statistics.median(times):9.1f}   min {min(times):9.1f}   max {max(times):9.1f}"
                f"   bytes {statistics.median(result[step][1] for result in results):9.0f}"
            )
    if len(commands) == 2:
        print("A/B")
        for step, other in zip(*(results[0] for results in runs), strict=False):
            ratios = [a[step][0] / max(b[other][0], 0.001) for a, b in zip(*runs, strict=True)]
            print(f"  {step:28} {statistics.median(ratios):6.2f}")


def main() -> None:
    """Measure the commands of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=5, help="runs of each command, after one that warms up")
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--steps", required=True)
    parser.add_argument("--vs-steps", help="steps for the second command, where its texts differ; matched by position")
    parser.add_argument("--timeout", type=float, default=30)
    parser.add_argument("--quiet", type=float, default=80, help="milliseconds that count as rest")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    words: list[str] = options.command[1:] if options.command[:1] == ["--"] else options.command
    at = words.index("--vs") if "--vs" in words else len(words)
    commands = [command for command in (words[:at], words[at + 1 :]) if command]
    plans = [options.steps.split(), (options.vs_steps or options.steps).split()]
    runs: list[list[Results]] = [[] for _ in commands]
    for turn in range(options.n + 1):
        for command, steps, results in zip(commands, plans, runs, strict=False):
            result = measure(command, steps, options.size, options.timeout, options.quiet / 1000)
            if turn:
                results.append(result)
    report(commands, runs)


if __name__ == "__main__":
    main()
