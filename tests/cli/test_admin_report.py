"""`presscheck admin report`: levels and their paths, against the real service."""

import csv
import io
from pathlib import Path

from tests.cli.shell import Shell


def test_report_lists_levels_with_their_paths_and_changes(shell: Shell, tmp_path: Path) -> None:
    team = shell.ok("team", "create", "--title", "=Writers", "--members", "luz").strip()
    shell.ok("collection", "teams", "set", "product", team, "--role", "edit")
    shell.ok("collection", "edit", "internal", "--default-level", "read")
    rows = {(row["personId"], row["placeId"]): row for row in shell.json("admin", "report")}
    robin, luz, mia = rows["robin", "api"], rows["luz", "api"], rows["mia", "handbook"]
    assert (robin["level"], robin["path"]) == (
        "admin",
        "role in the organization: Tallowick › Product › Developers › API docs",
    )
    assert (luz["level"], luz["path"]) == ("edit", "team =Writers: Product › Developers › API docs")
    assert (mia["level"], mia["path"]) == ("read", "default level: Internal › Handbook")
    assert rows["mia", "internal"]["kind"] == "collection"
    for space in ("api", "handbook"):
        listed = {line.split("\t")[0]: line.split("\t")[3] for line in shell.ok("space", "users", space).splitlines()}
        assert listed == {person: row["level"] for (person, place), row in rows.items() if place == space}
    old = tmp_path / "old.csv"
    old.write_text(shell.ok("admin", "report", "--csv"), "utf-8")
    assert len(list(csv.DictReader(io.StringIO(old.read_text("utf-8"))))) == len(rows)
    shell.ok("collection", "teams", "remove", "product", team, "--yes")
    shell.ok("collection", "edit", "internal", "--null", "default-level")
    changes = {(row["personId"], row["placeId"]): row for row in shell.json("admin", "report", "--diff", str(old))}
    assert (changes["luz", "api"]["change"], changes["luz", "api"]["before"]) == ("changed", "edit")
    assert changes["luz", "api"]["after"] == "comment"
    assert changes["mia", "handbook"]["change"] == "removed"
    assert not [key for key in changes if key[0] == "robin"], "an administrator has access to everything"
    shell.ok("team", "delete", team, "--yes")
    (tmp_path / "other.json").write_text("[1]", "utf-8")
    for file, reason in ((tmp_path / "gone", "could not read"), (tmp_path / "other.json", "is no report")):
        ran = shell.run("admin", "report", "--diff", str(file))
        assert (ran.exit_code, reason in ran.stderr) == (2, True)
