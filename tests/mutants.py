"""Mutation tests of critical code: `python -m tests.mutants [WORD ...]`.

Mutmut creates the mutants: another comparison, a changed number or text, a removed argument. A seeded sample of them
is tried, one at a time in each copy of the checkout. The tests that cover the changed line are run, first those of
`make test`, then the slow ones, the fastest first, until one fails: then the mutant is killed. A mutant that makes the
tests hang is killed as well. Survivors are printed; `tests/mutants.toml` has the reasons for those that no test can
detect. Words are parts of paths: only mutants of these files are tried.

Environment: `COUNT` is the size of the sample (400), `ALL=1` takes all mutants, `SEED` selects another sample,
`WORKERS` is the number of processes (2), `KEEP=DIR` stores the recorded coverage and reads it the next time. The exit
code is 1 if less than 85 % are killed.
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.root import ROOT

SOURCE = "src/presscheck"
WANTED = 0.85
"""The minimum share of killed mutants."""
MOST_SECONDS = 40
"""Maximum duration of the tests selected for a mutant, in seconds on an idle machine."""
SLOWER = 3
"""The tests of a mutant time out after `SLOWER` times their normal duration plus `PATIENCE` seconds."""
PATIENCE = 40
REASONS = ROOT / "tests" / "mutants.toml"
LISTED = ("git", "ls-files", "--cached", "--others", "--exclude-standard")


@dataclass(frozen=True)
class Group:
    """Code that is mutated, and the tests that could detect the mutants.

    Attributes:
        sources: files and folders below `src/presscheck`.
        tests: files and folders below `tests`.
        only: the functions and classes to mutate; all of them if it is empty.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    only: frozenset[str] = frozenset()


GROUPS = {
    "permissions": Group(
        ("service/permissions.py",),
        (
            "service/test_teams.py",
            "service/test_collections.py",
            "service/test_authorization.py",
            "service/test_organizations.py",
            "service/test_spaces.py",
            "service/test_sites.py",
            "service/test_site_access.py",
            "service/test_site_structure.py",
            "service/test_merge.py",
            "service/test_content_installations.py",
            "service/test_integration_runtime.py",
        ),
    ),
    "engine writes": Group(
        ("engine/writes",),
        (
            "engine/test_undo_guard.py",
            "engine/test_outbox_worker.py",
            "engine/test_write_queue.py",
            "engine/test_pending_writes.py",
            "engine/test_write_history.py",
            "engine/test_write_table.py",
            "engine/test_undo_comparisons.py",
            "engine/test_pending_overlays.py",
            "engine/test_undo.py",
            "engine/test_delivery.py",
            "engine/test_engine.py",
            "engine/test_subscriptions.py",
            "engine/test_rearrange.py",
            "engine/test_revert.py",
            "engine/test_notification_settings.py",
            "engine/test_site_customization.py",
            "engine/test_checkout.py",
            "engine/test_comment_state.py",
            "engine/test_drafts.py",
            "engine/test_held_texts.py",
            "engine/test_page_inverse.py",
            "engine/test_page_merge.py",
            "engine/test_pending_review.py",
            "engine/test_queued_edits.py",
            "engine/test_threads.py",
            "engine/test_tree_merge.py",
            "engine/test_typed_texts.py",
        ),
    ),
    "merge": Group(
        ("documents/merge",),
        (
            "documents/test_merge_text.py",
            "documents/test_merge_fields.py",
            "documents/test_merge_revisions.py",
            "documents/test_conflict_blocks.py",
            "documents/test_drawn_conflicts.py",
            "documents/test_hunks.py",
            "engine/test_held_texts.py",
        ),
    ),
    "sanitizing": Group(
        ("text/sanitize.py", "service/web/html/sanitizer.py"),
        (
            "text/test_sanitize.py",
            "documents/test_hostile_texts.py",
            "service/test_html_sanitizer.py",
            "service/test_web_html.py",
        ),
    ),
    "terminal filter": Group(
        ("tui/terminal/output.py",),
        ("tui/test_terminal_output.py",),
        frozenset(("ControlCharFilter", "_safe", "_blank")),
    ),
}


@dataclass(frozen=True)
class Mutant:
    """A mutant of a source file.

    Attributes:
        number: index among the mutants of the file.
        lines: the lines of the changed expression.
    """

    group: str
    file: str
    number: int
    lines: range


@dataclass(frozen=True)
class Outcome:
    """The result of a mutant.

    Attributes:
        killed: True if a test failed.
        needs_slow: True if only a slow test failed, which `make test` does not run.
        tests: number of selected tests.
        difference: the changed lines.
    """

    mutant: Mutant
    killed: bool
    needs_slow: bool
    tests: int
    seconds: float
    difference: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """The recorded run of a test: its duration and the lines that it executed, by file."""

    seconds: float
    is_slow: bool
    lines: dict[str, frozenset[int]]


class Faults:
    """The mutants of a file, created by mutmut's operators."""

    def __init__(self, file: str) -> None:
        from libcst.metadata import MetadataWrapper, PositionProvider
        from mutmut.mutation.file_mutation import create_mutations

        self.code = (ROOT / file).read_text("utf-8")
        self._module, mutations, _, _ = create_mutations(file, self.code)
        type_nodes = _nodes_of_types(self._module)
        self._mutations = [mutation for mutation in mutations if not _is_about_types(mutation, type_nodes)]
        positions = MetadataWrapper(self._module, unsafe_skip_copy=True).resolve(PositionProvider)
        places = [positions[mutation.original_node] for mutation in self._mutations]
        self.lines = [range(place.start.line, place.end.line + 1) for place in places]

    def planted(self, number: int) -> str:
        """Return the code of a mutant."""
        mutation = self._mutations[number]
        return self._module.deep_replace(mutation.original_node, mutation.mutated_node).code


def _nodes_of_types(module: Any) -> set[int]:
    """Return the ids of nodes without effect at run time: type aliases, `__all__`, and the types in calls of `cast`."""
    import libcst as cst
    from libcst import matchers as m

    named = m.Assign(value=m.Subscript()) | m.Assign(targets=[m.AssignTarget(m.Name("__all__"))])
    at_top = [part for line in module.body if isinstance(line, cst.SimpleStatementLine) for part in line.body]
    casts = m.findall(module, m.Call(func=m.Name("cast")))
    roots = [*(part for part in at_top if m.matches(part, named)), *(call.args[0] for call in casts)]
    ids: set[int] = set()
    while roots:
        node = roots.pop()
        ids.add(id(node))
        roots += node.children
    return ids


def _is_about_types(mutation: Any, types: set[int]) -> bool:
    """Return True if a mutation changes only a type."""
    before, after = mutation.original_node, mutation.mutated_node
    if id(before) in types:
        return True
    return any(id(argument.value) in types for argument in getattr(before, "args", ())[:1]) and (
        before.args[-1] is getattr(after, "args", (None,))[-1]
    )


@cache
def faults(file: str) -> Faults:
    """Return the mutants of a file. They are cached."""
    return Faults(file)


@cache
def statements(file: str) -> list[range]:
    """Return the lines of each statement of a file; of a compound statement, the lines before its body."""
    ranges: list[range] = []
    for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))):
        if isinstance(node, ast.stmt):
            inner = getattr(node, "body", None)
            end = inner[0].lineno - 1 if inner else node.end_lineno or node.lineno
            ranges.append(range(node.lineno, max(end, node.lineno) + 1))
    return ranges


def functions(file: str, names: frozenset[str]) -> set[int]:
    """Return the lines of the named functions and classes of a file."""
    lines: set[int] = set()
    for node in ast.parse((ROOT / file).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names:
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def files_of(group: Group) -> list[str]:
    """Return the source files of a group, relative to the checkout."""
    paths = (ROOT / SOURCE / source for source in group.sources)
    files = (file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path]))
    return [file.relative_to(ROOT).as_posix() for file in files]


def mutants(files: Sequence[str]) -> list[Mutant]:
    """Return all mutants, or those of files whose path contains one of `files`."""
    selected: list[Mutant] = []
    for name, group in GROUPS.items():
        for file in files_of(group):
            if files and not any(word in file for word in files):
                continue
            allowed_lines = functions(file, group.only)
            selected += [
                Mutant(name, file, number, lines)
                for number, lines in enumerate(faults(file).lines)
                if not group.only or lines.start in allowed_lines
            ]
    return selected


def copy_checkout(target: Path) -> None:
    """Copy the files of the checkout, including uncommitted ones."""
    listing = subprocess.run(LISTED, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listing.splitlines():
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


class Copy:
    """A copy of the checkout that holds one mutant at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Python compares compiled modules with their source by seconds: each change needs a second of its own
        self._second = int(time.time())

    def write(self, file: str, code: str) -> None:
        path = self.folder / file
        path.write_text(code, "utf-8")
        self._second += 1
        os.utime(path, (self._second, self._second))

    def pytest(self, arguments: Iterable[str], seconds: float | None, **variables: str) -> int:
        """Run tests. Returns the exit code; 1 if they take longer than `seconds`."""
        places = [str(self.folder / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)} | variables
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants_plugin", "-p", "no:cacheprovider"]
        with (self.folder.parent / f"{self.folder.name}.log").open("w") as log:
            process = subprocess.Popen(
                [*command, *arguments], cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                return 1
            finally:
                # also ends the services that the tests started
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def recorded(copy: Copy, name: str, keep: Path) -> dict[str, Run]:
    """Return the recorded runs of a group's tests. Tests that fail without a mutant are left out."""
    path = keep / f"{name.replace(' ', '-')}.json"
    if not path.exists():
        group = GROUPS[name]
        sources = [str(copy.folder / file) for file in files_of(group)]
        code = copy.pytest(
            [f"tests/{test}" for test in group.tests],
            None,
            PRESSCHECK_LINES=str(path),
            PRESSCHECK_SOURCES=os.pathsep.join(sources),
        )
        if code > 1 or not path.exists():
            log = copy.folder.parent / f"{copy.folder.name}.log"
            raise SystemExit(f"the tests of {name} do not run:\n{log.read_text('utf-8')[-4000:]}")
    runs = json.loads(path.read_text("utf-8"))
    return {
        test: Run(
            run["seconds"],
            run["is_slow"],
            {SOURCE + source.partition(SOURCE)[2]: frozenset(lines) for source, lines in run["lines"].items()},
        )
        for test, run in runs.items()
    }


def tests_of(mutant: Mutant, runs: dict[str, Run], *, slow: bool) -> list[str]:
    """Return the tests that execute the changed lines, fastest first, grouped by file.

    If a changed line is executed by the import of its module, all tests that use the module count.
    """
    enclosing = [lines for lines in statements(mutant.file) if mutant.lines.start in lines]
    statement = min(enclosing, key=len, default=range(0))
    changed = {*mutant.lines, *statement}
    is_top_level = mutant.lines.start in top_lines(mutant.file)
    chosen: list[str] = []
    seconds_left = float(MOST_SECONDS)
    for test, run in sorted(runs.items(), key=lambda pair: pair[1].seconds):
        lines = run.lines.get(mutant.file, frozenset())
        if run.is_slow is slow and (lines if is_top_level else lines & changed) and seconds_left > 0:
            chosen.append(test)
            seconds_left -= run.seconds
    of_file: defaultdict[str, list[str]] = defaultdict(list)
    for test in chosen:
        of_file[test.partition("::")[0]].append(test)
    return [test for tests in of_file.values() for test in tests]


@cache
def top_lines(file: str) -> frozenset[int]:
    """Return the lines of a file outside functions."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    inner = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    # default values of arguments are evaluated by the import
    inside = {line for node in inner for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)}
    return frozenset(range(1, len(faults(file).code.splitlines()) + 1)) - inside


def changed_lines(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that differ, prefixed with `-` or `+`."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return tuple(line for line in lines if not line.startswith(("---", "+++", "@@")))


def tried(mutant: Mutant, copy: Copy, runs: dict[str, Run]) -> Outcome:
    """Write a mutant and run the tests that could detect it."""
    code = faults(mutant.file).code
    planted = faults(mutant.file).planted(mutant.number)
    start = time.monotonic()
    killed = slow = False
    count = 0
    copy.write(mutant.file, planted)
    try:
        for slow in (False, True):
            tests = tests_of(mutant, runs, slow=slow)
            count += len(tests)
            if killed := bool(tests) and fails(copy, tests, SLOWER * sum(runs[test].seconds for test in tests)):
                break
    finally:
        copy.write(mutant.file, code)
    return Outcome(mutant, killed, killed and slow, count, time.monotonic() - start, changed_lines(code, planted))


def fails(copy: Copy, tests: Sequence[str], seconds: float) -> bool:
    """Return True if one of the tests fails or takes too long."""
    chosen = copy.folder / "chosen-tests"
    chosen.write_text("\n".join(tests), "utf-8")
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    result = copy.pytest(["-x", *files], seconds + PATIENCE, PRESSCHECK_CHOSEN=str(chosen))
    if result == 5:
        raise SystemExit(f"pytest found none of {tests[:3]}")
    return result != 0


def reason_for(outcome: Outcome) -> str | None:
    """Return the reason in tests/mutants.toml why a mutant may survive, or None."""
    removed = [line[1:].strip() for line in outcome.difference if line.startswith("-")]
    added = [line[1:].strip() for line in outcome.difference if line.startswith("+")]
    for entry in tomllib.loads(REASONS.read_text("utf-8")).get("survivor", []):
        is_here = entry["file"] == outcome.mutant.file.removeprefix(f"{SOURCE}/") and entry["line"] in removed
        if is_here and ("becomes" not in entry or set(added) & set(entry["becomes"])):
            return str(entry["reason"])
    return None


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a table of killed mutants, by group and file, in total and by `make test`; and the list of survivors."""
    rows: list[tuple[str, list[Outcome]]] = []
    for name in GROUPS:
        of_group = [outcome for outcome in outcomes if outcome.mutant.group == name]
        if of_group:
            rows.append((name, of_group))
            for file in dict.fromkeys(outcome.mutant.file for outcome in of_group):
                of_file = [outcome for outcome in of_group if outcome.mutant.file == file]
                rows.append((f"  {file.removeprefix(SOURCE + '/')}", of_file))
    rows.append(("all", list(outcomes)))
    lines = [f"{'':44}{'faults':>8}{'killed':>8}{'share':>8}{'by make test':>14}{'share':>8}"]
    for name, part in rows:
        killed = sum(outcome.killed for outcome in part)
        by_quick = sum(outcome.killed and not outcome.needs_slow for outcome in part)
        shares = f"{killed:8}{killed / len(part):8.0%}{by_quick:14}{by_quick / len(part):8.0%}"
        lines.append(f"{name:44}{len(part):8}{shares}")
    for outcome in sorted(
        (outcome for outcome in outcomes if not outcome.killed),
        key=lambda outcome: (outcome.mutant.file, outcome.mutant.number),
    ):
        reason = reason_for(outcome) or (
            f"survived {outcome.tests} tests" if outcome.tests else "no test runs this line"
        )
        lines += [
            "",
            f"{outcome.mutant.file}:{outcome.mutant.lines.start}  {reason}",
            *(f"  {line}" for line in outcome.difference),
        ]
    return "\n".join(lines)


def main(files: Sequence[str]) -> int:
    """Try the sample. Returns the exit code."""
    start = time.monotonic()
    all_mutants = mutants(files)
    sample = all_mutants
    if not os.environ.get("ALL"):
        count = min(int(os.environ.get("COUNT") or 400), len(all_mutants))
        sample = random.Random(int(os.environ.get("SEED") or 16)).sample(all_mutants, count)
    groups = list(dict.fromkeys(mutant.group for mutant in sample))
    sys.stdout.write(f"{len(sample)} of {len(all_mutants)} faults\n")
    with tempfile.TemporaryDirectory(prefix="presscheck-mutants-") as directory:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(int(os.environ.get("WORKERS") or 2)):
            # nothing is beside the copy: tests must not open files beside their clone
            folder = Path(directory, str(number), "presscheck")
            copy_checkout(folder)
            copies.put(Copy(folder))
        keep = Path(os.environ.get("KEEP") or Path(directory, "runs"))
        keep.mkdir(parents=True, exist_ok=True)

        def record(name: str) -> dict[str, Run]:
            copy = copies.get()
            try:
                return recorded(copy, name, keep)
            finally:
                copies.put(copy)

        def attempt(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                outcome = tried(mutant, copy, runs[mutant.group])
            finally:
                copies.put(copy)
            word = ("slowly" if outcome.needs_slow else "killed") if outcome.killed else "SURVIVED"
            place = f"{mutant.file.removeprefix(SOURCE + '/')}:{mutant.lines.start}"
            sys.stdout.write(f"{word:9}{outcome.seconds:6.1f} s {outcome.tests:4} tests  {place}\n")
            sys.stdout.flush()
            return outcome

        with ThreadPoolExecutor(copies.qsize()) as pool:
            runs = dict(zip(groups, pool.map(record, groups), strict=True))
            sys.stdout.write(f"{sum(map(len, runs.values()))} tests in {time.monotonic() - start:.0f} s\n")
            outcomes = list(pool.map(attempt, sample))
    sys.stdout.write(f"\n{table(outcomes)}\n\n{(time.monotonic() - start) / 60:.0f} minutes\n")
    return int(sum(outcome.killed for outcome in outcomes) < WANTED * len(outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
