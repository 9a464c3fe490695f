"""`presscheck site config` against the real service: exit codes, JSON, secrets, partial failures, concurrent edits."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService

SITE = "Tallowick Docs"


def config(shell: Shell, verb: str, *words: str, site: str = SITE) -> tuple[int, str, str]:
    ran = shell.run("site", "config", verb, site, *words)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.mark.slow
def test_file_is_pulled_edited_and_pushed(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    assert config(shell, "pull", str(file))[0] == 0
    assert config(shell, "push", str(file), "--yes")[2] == "Nothing to push.\n"
    assert config(shell, "diff", str(file))[0] == 0
    old, new = ("rounded", "straight") if "rounded" in file.read_text() else ("straight", "rounded")
    file.write_text(file.read_text().replace(old, new))
    code, out, _ = config(shell, "diff", str(file), "--json")
    assert (code, [(one["field"], one["file"]) for one in json.loads(out)]) == (6, [("styling.corners", new)])
    assert config(shell, "pull", str(file))[0] == 6, "what the user wrote is not lost"
    code, out, _ = config(shell, "push", str(file), "--dry-run", "--json")
    assert (code, [one["call"] for one in json.loads(out)["steps"]]) == (6, ["updateSiteCustomizationById"])
    assert config(shell, "push", str(file))[0] == 2, "asks, and there is no terminal"
    code, out, _ = config(shell, "push", str(file), "--yes", "--json")
    sent = json.loads(out)
    assert (code, len(sent["sent"]), sent["failed"], sent["drift"]) == (0, 1, None, [])


@pytest.mark.slow
def test_push_does_not_overwrite_changes_of_others_since_the_pull(
    shell: Shell, service: RunningService, tmp_path: Path
) -> None:
    site = shell.ok("site", "create", "--title", "Drifting").strip()
    shell.ok("site", "redirects", "add", site, "/old", "https://example.org/")
    file = tmp_path / "mine.toml"
    assert config(shell, "pull", str(file), site=site)[0] == 0
    signed_in(tmp_path / "other", service).ok("site", "redirects", "add", site, "/old", "https://example.net/")
    # values of others are not overwritten, neither by unedited values of the file nor with --yes
    file.write_text(file.read_text().replace('depth = "subtle"', 'depth = "flat"'))
    code, out, err = config(shell, "push", str(file), "--yes", "--json", site=site)
    [drift] = json.loads(out)["drift"]
    assert (code, drift["field"], drift["now"], json.loads(out)["sent"]) == (5, "to", "https://example.net/", [])
    assert "Nothing was sent: it would overwrite 1 field" in err
    assert shell.json("site", "customization", "show", site)["styling"]["depth"] == "subtle"
    # with the new value in the file, nothing would be overwritten
    file.write_text(file.read_text().replace("org/", "net/"))
    assert config(shell, "push", str(file), "--yes", site=site)[0] == 0
    assert shell.json("site", "customization", "show", site)["styling"]["depth"] == "flat"


@pytest.mark.slow
def test_a_part_is_restored_from_the_history(shell: Shell) -> None:
    site = shell.ok("site", "create", "--title", "Recalled").strip()
    shell.ok("site", "add", site, "--space-id", "handbook")
    shell.ok("site", "redirects", "add", site, "/first", "https://example.org/first")
    shell.ok("site", "publish", site, "--yes")
    shell.ok("site", "redirects", "add", site, "/second", "https://example.org/second")
    rows = shell.json("site", "history", site)
    whats = [row["what"] for row in rows if row["source"] == "this machine"]
    assert whats == ["redirects changed", "published", "redirects changed", "structure changed"]
    restore = ("site", "restore", site, rows[1]["snapshot"], "--part", "redirects", "--prune")
    planned = shell.run(*restore, "--dry-run")
    assert (planned.exit_code, planned.stdout) == (6, "redirects: delete the redirect /second\n")
    assert shell.run(*restore).exit_code == 2, "asks, and there is no terminal"
    shell.ok(*restore, "--yes")
    assert [one["source"] for one in shell.json("site", "redirects", "list", site)] == ["/first"]
    missing = shell.run("site", "restore", site, "2000-01-01T000000Z")
    assert (missing.exit_code, "not found. Newest: " in missing.stderr) == (2, True)


def test_entries_missing_in_the_file_are_deleted_only_with_prune(shell: Shell, tmp_path: Path) -> None:
    site = shell.ok("site", "create", "--title", "Lacking").strip()
    shell.ok("site", "add", site, "--space-id", "handbook")
    file = tmp_path / "part.toml"
    first = next(page["path"] for page in shell.json("space", "pages", "handbook"))
    target = f'{{ space = "Handbook", page = "{first}" }}'
    file.write_text(f'share_links = ["P"]\n[[redirects]]\nsource = "/a"\nto = {target}\n')
    assert config(shell, "push", str(file), "--yes", site=site)[0] == 0
    file.write_text("share_links = []\nredirects = []\n")
    code, _, err = config(shell, "push", str(file), "--yes", site=site)
    assert (code, "stays there without --prune" in err) == (0, True)
    assert [one["name"] for one in shell.json("site", "share-links", "list", site)] == ["P"]
    assert config(shell, "push", str(file), "--yes", "--prune", site=site)[0] == 0
    assert shell.json("site", "share-links", "list", site) == shell.json("site", "redirects", "list", site) == []


@pytest.mark.slow
def test_secrets_are_not_written_to_files_and_hostile_names_are_not_printed(shell: Shell, tmp_path: Path) -> None:
    name = "\x1b[2J\u202e[[x]] \"'#: - !"
    site = shell.ok("site", "create", "--title", "Shared", "--visibility", "share-link").strip()
    shell.ok("site", "add", site, "--space-id", "handbook")
    shell.ok("site", "share-links", "create", site, "--name", name)
    shell.ok("site", "publish", site, "--yes")
    link = shell.json("site", "share-links", "list", site)[0]["urls"]["published"]
    own = shell.json("site", "show", site)["urls"]["published"]
    looks = shell.json("site", "customization", "show", site)
    looks["header"]["links"] = [{"title": "Secret", "to": {"kind": "url", "url": link}, "links": []}]
    shell.ok("site", "customization", "set", site, "--settings", json.dumps(looks), "--yes")
    secrets = [urlsplit(one).path.rstrip("/").rpartition("/")[2] for one in (link, own)]
    secrets += [shell.json("site", "auth", "show", site)["privateKey"], shell.env["PRESSCHECK_TOKEN"]]
    assert all(len(secret) >= 8 for secret in secrets)
    listed = shell.ok("site", "share-links", "list", site) + shell.ok("site", "list")
    assert listed.count("/…/") == 2, "an address is listed without its key"
    assert not [secret for secret in secrets if secret in listed]
    for ending in ("toml", "yaml"):
        file = tmp_path / f"site.{ending}"
        assert config(shell, "pull", str(file), site=site)[0] == 0
        assert not [secret for secret in [*secrets, "\x1b", "\u202e"] if secret in file.read_text()]
        assert config(shell, "diff", str(file), site=site)[0] == 0
    file.write_text(file.read_text().replace("rounded", "straight"))
    code, out, err = config(shell, "push", str(file), "--yes", site=site)
    assert (code, {"\x1b", "\u202e"} & {*out, *err}) == (0, set())
    assert shell.json("site", "customization", "show", site)["header"]["links"][0]["to"]["url"] == link
    assert [one["name"] for one in shell.json("site", "share-links", "list", site)] == [name]
    kept = [*(shell.home / "data").rglob("*.yaml"), *(shell.home / "state").rglob("*.snapshot")]
    assert kept
    assert not [snapshot for snapshot in kept for secret in secrets if secret in snapshot.read_text()]


def test_keys_of_share_links_are_printed_only_as_json(shell: Shell) -> None:
    site = shell.ok("site", "create", "--title", "Asked", "--visibility", "share-link").strip()
    space = shell.ok("space", "duplicate", "handbook").strip()
    shell.ok("site", "add", site, "--space-id", space)
    shell.ok("site", "share-links", "create", site, "--name", "Mia")
    looks = shell.json("site", "customization", "show", site) | {"feedback": {"enabled": True}}
    shell.ok("site", "customization", "set", site, "--settings", json.dumps(looks), "--yes")
    shell.ok("site", "publish", site, "--yes")
    link = shell.json("site", "share-links", "list", site)[0]["urls"]["published"]
    own = shell.json("site", "show", site)["urls"]["published"]
    for address in (link, own):
        assert httpx.post(address, data={"rating": "ok"}, headers={"user-agent": address}).status_code == 303
    keys = {urlsplit(address).path.rstrip("/").rpartition("/")[2] for address in (link, own)}
    for words in (
        ("site", "feedback", site),
        ("site", "events", site, "last7Days"),
        ("site", "show", site),
        ("site", "published", site),
        ("site", "for-visitor", link),
        ("site", "at-url", link),
        ("space", "show", space),
    ):
        printed = shell.ok(*words).replace(r"\u2026", "…")
        assert ("/…/" in printed, [key for key in keys if key in printed]) == (True, []), (words, printed)
        assert [key for key in keys if key in shell.ok(*words, "--json")], words


def test_next_push_continues_after_a_partial_failure(shell: Shell, tmp_path: Path) -> None:
    site = shell.ok("site", "create", "--title", "Halfway").strip()
    shell.ok("site", "add", site, "--space-id", "handbook")
    file = tmp_path / "half.toml"
    bad = "share_links = ['One']\n[visitor_schema]\ntype = 'object'\nadditionalProperties = false\nproperties = {}\n"
    customization = "[customization.externalLinks]\ntarget = 'blank'\n[customization.themes]\ndefault = 'pink'\n"
    file.write_text(bad + customization)
    code, out, err = config(shell, "push", str(file), "--yes", "--json", site=site)
    receipt = json.loads(out)
    parts = [[one["part"] for one in receipt[name]] for name in ("sent", "left")]
    assert (code, parts, receipt["failed"]["part"]) == (1, [["visitor_schema"], ["share_links"]], "customization")
    assert "Sent: set the visitor schema" in err
    assert "Not sent: create the share link One" in err
    assert shell.json("outbox", "list") == []
    file.write_text(file.read_text().replace("pink", "dark"))
    code, out, _ = config(shell, "push", str(file), "--yes", "--json", site=site)
    assert (code, [one["part"] for one in json.loads(out)["sent"]]) == (0, ["customization", "share_links"])


def test_invalid_file_is_an_error_and_sends_nothing(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    for text, message in (
        ('[customization.styling]\nprimaryColor = { light = "red", dark = "#fff" }\n', "bad.toml:2: customization.st"),
        ('[customization]\nstylling = "x"\n', "bad.toml:2: customization.stylling: is not a known key"),
        ('[[structure]]\nsection = "Guides"\n[[structure.spaces]]\nspace = "Nix"\n', "bad.toml:4: structure[0].spa"),
        ('[[structure]]\nsection = "Guides"\npath = "Über"\n', "bad.toml:3: structure[0].path: small letters only"),
        ("a = [\n = 1]", "bad.toml:2: is not valid TOML"),
        ("", "has none of the parts"),
    ):
        file.write_text(text)
        code, _, err = config(shell, "push", str(file), "--yes")
        assert (code, message in err) == (2, True), err
    file.write_bytes(b"share_links = ['\xff']")
    assert "bad.toml:1: is not UTF-8 text" in config(shell, "diff", str(file))[2]
    file.write_bytes(b"#" * (5 << 20))
    assert "is larger than 4 MB" in config(shell, "diff", str(file))[2]
    assert "must end with" in config(shell, "diff", str(tmp_path / "x.json"))[2]
    other = tmp_path / "other.toml"
    other.write_text("[tool]\nname = 1\n")
    assert config(shell, "pull", str(other))[0] == 2
    assert other.read_text() == "[tool]\nname = 1\n"
    assert config(shell, "pull", str(other), "--force")[0] == 0
