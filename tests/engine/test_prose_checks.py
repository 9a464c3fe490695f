"""Prose checks with real programs: formats, limits, malformed and hostile output, and new findings."""

from __future__ import annotations

import asyncio
import json
import os
import select
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.table import each_case

from presscheck.config.prose_checks import KNOWN_PROGRAMS, OutputFormat, ProseCheck
from presscheck.documents.git_format.findings import Finding, Fix
from presscheck.engine.prose_checks.output import LONGEST_MESSAGE
from presscheck.engine.prose_checks.programs import all_findings, new_findings, page_sources
from presscheck.errors import PresscheckError

TEXT = "# Start\n\nAn ünusual 😀 teh end.\n\n* one  \n"
INSTALLED = [name for name in KNOWN_PROGRAMS if shutil.which(name)]
FIND_TEH = """
import json, sys
for path in sys.argv[1:]:
    for number, line in enumerate(open(path), 1):
        for place in (at for at in range(len(line)) if line.startswith("teh", at)):
            row = {"path": path, "line": number, "column": place + 1, "message": "a typo", "rule": "teh"}
            print(json.dumps({**row, "text": "teh", "replacement": "the"}))
"""


def program(code: str, output_format: OutputFormat = "json", **settings: Any) -> ProseCheck:
    """Return a check that runs Python code."""
    return ProseCheck("own", (sys.executable, "-c", code), output_format, **settings)


def printing(output: str, output_format: OutputFormat, code: int = 1, stream: str = "stdout") -> ProseCheck:
    return program(f"import sys; sys.{stream}.write({output!r}); sys.exit({code})", output_format)


def findings(check: ProseCheck, texts: Mapping[str, str] | None = None) -> list[Finding]:
    return asyncio.run(all_findings(check, texts or {"a.md": TEXT}))


def reason(check: ProseCheck) -> str:
    with pytest.raises(PresscheckError) as caught:
        findings(check)
    return caught.value.message


def sarif(results: list[dict[str, Any]], **run: Any) -> str:
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": results, **run}]})


def sarif_result(column: int, **extra: Any) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": "a.md"}, "region": {"startLine": 3, "startColumn": column}}
    return {"ruleId": "r1", "message": {"text": "a typo"}, "locations": [{"physicalLocation": place}], **extra}


def sarif_fix(start: int, end: int) -> list[dict[str, Any]]:
    region = {"startLine": 3, "startColumn": start, "endColumn": end}
    replacement = {"deletedRegion": region, "insertedContent": {"text": "the"}}
    return [{"artifactChanges": [{"artifactLocation": {"uri": "a.md"}, "replacements": [replacement]}]}]


TYPO = Finding("a.md", 3, "a typo", "own/r1", 14, fix=Fix("teh", "the"), own_severity="warning")
ROW = {"path": "a.md", "line": 3, "column": 14, "message": "a typo", "rule": "r1", "text": "teh", "replacement": "the"}
VALE = {
    "Action": {"Name": "replace", "Params": ["the"]},
    "Span": [14, 16],
    "Check": "r1",
    "Message": "a typo",
    "Severity": "warning",
    "Match": "teh",
    "Line": 3,
}
OUTPUTS: list[tuple[OutputFormat, str, Finding]] = [
    ("json", json.dumps([ROW]), TYPO),
    ("json", json.dumps(ROW) + "\n\n", TYPO),
    (
        "json",
        json.dumps({"file": "a.md", "line": "3", "message": "m"}),
        Finding("a.md", 3, "m", "own", own_severity="warning"),
    ),
    (
        "json",
        json.dumps({"path": "a.md", "line": 5, "message": "m", "replacement": "* one", "severity": "Error"}),
        Finding("a.md", 5, "m", "own", fix=Fix("* one  ", "* one"), own_severity="error"),
    ),
    (
        "typos",
        '{"type":"typo","path":"./a.md","line_num":3,"byte_offset":17,"typo":"teh","corrections":["the","ten"]}',
        TYPO._replace(message="“teh” should be “the” or “ten”", rule="own/typo", own_severity="error"),
    ),
    ("vale", json.dumps({"a.md": [VALE]}), TYPO),
    ("vale", json.dumps({"a.md": [{**VALE, "Span": [2, 4]}]}), TYPO),
    (
        "vale",
        json.dumps({"a.md": [{**VALE, "Action": {"Name": "", "Params": None}, "Severity": "suggestion"}]}),
        TYPO._replace(fix=None, own_severity="info"),
    ),
    ("sarif", sarif([sarif_result(15, level="warning", fixes=sarif_fix(15, 18))]), TYPO),
    ("sarif", sarif([sarif_result(14, fixes=sarif_fix(14, 17))], columnKind="unicodeCodePoints"), TYPO),
    ("sarif", sarif([sarif_result(15, level="note")]), TYPO._replace(fix=None, own_severity="info")),
    (
        "markdownlint",
        "markdownlint-cli2 v1\na.md:5:6 error MD009/no-trailing-spaces Trailing spaces [Expected: 0]\n",
        Finding(
            "a.md",
            5,
            "Trailing spaces [Expected: 0]",
            "own/MD009/no-trailing-spaces",
            6,
            own_severity="error",
        ),
    ),
    (
        "markdownlint",
        "a.md:3 MD013/line-length Line length",
        Finding("a.md", 3, "Line length", "own/MD013/line-length", own_severity="error"),
    ),
]


@each_case(("output_format", "output", "finding"), OUTPUTS)
def test_each_format_is_read(output_format: OutputFormat, output: str, finding: Finding) -> None:
    assert findings(printing(output, output_format)) == [finding]


def test_markdownlint_prints_its_findings_on_standard_error() -> None:
    output = "a.md:5:6 MD009 Trailing spaces\n"
    assert [finding.line for finding in findings(printing(output, "markdownlint", stream="stderr"))] == [5]


def test_empty_output_has_no_findings() -> None:
    for output_format in ("json", "sarif", "typos", "vale", "markdownlint"):
        assert findings(printing("", output_format, code=0)) == []


@pytest.mark.parametrize("name", INSTALLED)
def test_an_installed_program_finds_something(name: str) -> None:
    text = "# Start\n\n\n\nAn ünusual  recieve and the the end.  \nx \n"
    found = findings(KNOWN_PROGRAMS[name], {"guides/a b.md": text, "-x.md": text})
    assert {finding.path for finding in found} == {"guides/a b.md", "-x.md"}
    assert all(finding.rule.startswith(f"{name}/") for finding in found)
    if name == "typos":
        assert found[0].fix == Fix("recieve", "receive")


def test_configured_severity_has_precedence() -> None:
    check = replace(printing(json.dumps(ROW), "json"), severity="info")
    assert [finding.severity for finding in findings(check)] == ["info"]


def test_program_receives_files_with_the_texts_and_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSCHECK_TOKEN", "s3cr3t")
    code = """
import json, os, sys
for path in sys.argv[1:]:
    message = f"{os.path.relpath(path)} {open(path).read()} {os.environ.get('PRESSCHECK_TOKEN')}"
    print(json.dumps({"path": path, "line": 1, "message": message}))
"""
    found = findings(program(code), {"a.md": "one", "guides/ü.md": "two"})
    assert [finding.message for finding in found] == ["a.md one None", "guides/ü.md two None"]


def test_pages_replace_their_placeholder_in_the_command() -> None:
    code = "import json, sys; print(json.dumps({'path': sys.argv[1], 'message': sys.argv[2]}))"
    check = program(code)
    check = replace(check, command=(*check.command, "{pages}", "last"))
    assert [finding.message for finding in findings(check)] == ["last"]


def test_configured_directory_is_the_working_directory(tmp_path: Path) -> None:
    code = "import json, os, sys; print(json.dumps({'path': sys.argv[1], 'message': os.getcwd()}))"
    [finding] = findings(program(code, directory=str(tmp_path)))
    assert finding.message == str(tmp_path)
    assert (
        reason(program(code, directory=str(tmp_path / "gone")))
        == f"own: the directory {tmp_path / 'gone'} does not exist"
    )


def test_many_pages_are_checked_in_several_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presscheck.engine.prose_checks.programs.MAX_ARGUMENTS", 10)
    code = "import json, sys; [print(json.dumps({'path': p, 'message': str(len(sys.argv))})) for p in sys.argv[1:]]"
    found = findings(program(code), {f"{name}.md": "x" for name in "abcde"})
    assert [(finding.path, finding.message) for finding in found] == [
        ("a.md", "3"),
        ("b.md", "3"),
        ("c.md", "3"),
        ("d.md", "3"),
        ("e.md", "2"),
    ]


def test_missing_program_is_reported_on_one_line() -> None:
    assert reason(ProseCheck("own", ("no-such-program",))) == "own: no-such-program is not installed: install it"


def test_failures_contain_the_error_output_or_the_signal() -> None:
    check = program("import sys; sys.stderr.write('no\\x1b[2J\\n\\nsettings'); sys.exit(3)")
    assert reason(check) == "own: failed with exit code 3: no␛[2J settings"
    assert reason(program("import os; os.abort()")) == "own: was ended by signal 6"
    assert "own: was ended by signal 9" in reason(
        program("import os; print('[]', flush=True); os.kill(os.getpid(), 9)")
    )


@each_case("output_format", ["json", "sarif", "typos", "vale"])
@each_case(
    "output",
    [
        "all is well",
        '{"a',
        "[3]",
        "3",
        '{"runs": 3}',
        '{"type": "typo"}',
        '{"a.md": 3}',
        '{"a.md": [3]}',
        "[" * 100_000,
    ],
)
def test_malformed_output_is_an_error_or_has_no_findings(output_format: OutputFormat, output: str) -> None:
    check = (
        printing(output, output_format, code=0)
        if len(output) < 1000
        else program("print('[' * 100_000)", output_format)
    )
    try:
        assert findings(check) == []
    except PresscheckError as error:
        assert error.message.startswith(f"own: its output is not {output_format}: {output[:5]}")


def test_a_slow_program_is_killed_with_its_children(tmp_path: Path) -> None:
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    child = f"import time; pipe = open({str(pipe)!r}, 'w'); print('x', file=pipe, flush=True); time.sleep(60)"
    check = program(
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    )
    started = time.monotonic()
    assert reason(replace(check, timeout=1)) == "own: not done after 1 seconds (timeout)"
    assert time.monotonic() - started < 10
    assert os.read(end, 9) == b"x\n", "the child ran"
    # the pipe ends once no process can write to it
    assert select.select([end], [], [], 10)[0] and os.read(end, 9) == b""
    os.close(end)


def test_a_canceled_check_ends_its_program(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    check = program(f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)")

    async def cancel() -> None:
        task = asyncio.create_task(all_findings(check, {"a.md": TEXT}))
        while not (mark.exists() and mark.read_text()):  # noqa: ASYNC110  # the program writes the file
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_a_program_that_prints_too_much_is_killed() -> None:
    for stream in ("stdout", "stderr"):
        check = program(f"import sys\nfor _ in range(50): sys.{stream}.write('x' * (1 << 20))")
        assert reason(check) == "own: printed more than 8 MB"


@each_case("replacement", ["\x1b[2J", "\x9bm", "th\u202ee", "th\u2066e", "\ud800"])
def test_replacement_with_invisible_or_broken_characters_is_not_a_fix(replacement: str) -> None:
    row = {"path": "a.md", "line": 3, "message": "a typo", "text": "teh", "replacement": replacement}
    assert [finding.fix for finding in findings(printing(json.dumps(row), "json"))] == [None]


def test_hostile_texts_become_display_text() -> None:
    row = {
        "path": "a.md",
        "line": 3,
        "message": "\x1b]0;x\x07[red]\u202eevil\r\nmore " + "x" * 1000,
        "rule": "a b\x1b[/]\n",
    }
    [finding] = findings(printing(json.dumps({**row, "text": "teh", "replacement": "\x1b[2J"}), "json"))
    assert finding.message.startswith("␛]0;x␇[red]evil more xx")
    assert len(finding.message) == LONGEST_MESSAGE
    assert (finding.rule, finding.fix) == ("own/a-b-/", None)


@each_case("path", ["../a.md", "/etc/passwd", "b.md", "a.md/../../a.md", "", "\0", None, 3, ["a.md"], "x" * 9999])
def test_findings_in_other_files_are_left_out(path: object) -> None:
    assert findings(printing(json.dumps({"path": path, "message": "m"}), "json")) == []


@each_case(
    ("line", "column", "place"),
    [
        (0, 0, (1, 1)),
        (-5, -5, (1, 1)),
        (10**30, 10**30, (6, 1)),
        (1, 99, (1, 8)),
        ("x", None, (1, 1)),
        (1.5, {}, (1, 1)),
    ],
)
def test_places_are_limited_to_the_text(line: object, column: object, place: tuple[int, int]) -> None:
    row = {"path": "a.md", "line": line, "column": column, "message": "m"}
    [finding] = findings(printing(json.dumps(row), "json"))
    assert (finding.line, finding.column) == place


def new(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, int, int]]:
    found = asyncio.run(new_findings(program(FIND_TEH), before, after))
    return [(finding.path, finding.line, finding.column) for finding in found]


def test_only_new_findings_remain() -> None:
    before = {"a.md": "teh\n\nsame teh line\n"}
    after = {"a.md": "first\n\nteh\n\nsame teh line\n\nnew teh\n", "b.md": "teh\n"}
    assert new(before, after) == [("a.md", 7, 5), ("b.md", 1, 1)]


def test_a_second_equal_line_is_new() -> None:
    assert new({"a.md": "teh\n"}, {"a.md": "teh\n\nteh\n"}) == [("a.md", 3, 1)]


def test_without_findings_the_old_texts_are_not_checked(tmp_path: Path) -> None:
    log = tmp_path / "log"
    check = program(f"open({str(log)!r}, 'a').write('run ')")
    assert asyncio.run(new_findings(check, {"a.md": "x"}, {"a.md": "y"})) == []
    assert log.read_text() == "run "


def test_files_of_a_folder_are_checked_in_place(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("teh old\n\nteh new\n")
    texts = {"a.md": (tmp_path / "a.md").read_text()}
    found = asyncio.run(new_findings(program(FIND_TEH), {"a.md": "teh old\n"}, texts, tmp_path))
    assert [(finding.path, finding.line) for finding in found] == [("a.md", 3)]
    assert [file.name for file in tmp_path.iterdir()] == ["a.md"]


def test_pages_have_safe_and_different_names() -> None:
    paths = {
        "1": "guides/start",
        "2": "../../etc/x",
        "3": "/etc/x",
        "4": "a\0b",
        "5": "",
        "6": "Guides/Start",
        "7": "x" * 300,
        "8": "page-2",
        "9": "guides/start.md/below",
        "10": "-option",
    }
    sources = page_sources(paths)
    assert sources["1"] == "guides/start.md"
    assert sources["10"] == "-option.md"
    assert [sources[key] for key in "23456"] == [f"page-{number}.md" for number in (2, 3, 4, 5, 6)]
    assert len({source.casefold() for source in sources.values()}) == len(paths)
    assert findings(program(FIND_TEH), dict.fromkeys(sources.values(), "teh")) != []
