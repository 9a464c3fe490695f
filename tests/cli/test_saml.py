"""`presscheck saml`: providers from their metadata, on the real service."""

import json
from pathlib import Path

from tests.cli.shell import Shell
from tests.saml_files import certificate, metadata, private_key


def test_provider_is_created_and_edited_from_metadata(shell: Shell, tmp_path: Path) -> None:
    file, first, second = tmp_path / "metadata.xml", certificate("First", days=9), certificate("Second", days=700)
    file.write_text(metadata([first]), "utf-8")
    create = ("saml", "create", "--label", "Keys", "--metadata", str(file))
    asked = shell.run(*create)
    assert asked.exit_code == 2 and "--yes: Send these settings?" in asked.stderr
    assert "--entity-id: urn:keys\n" in asked.stderr
    assert "--sso-url: https://keys.example/sso/HTTP-Redirect\n" in asked.stderr
    assert "--certificate: CN=First: expires in 9 days\n" in asked.stderr
    dry = shell.ok(*create, "--dry-run", "--entity-id", "urn:mine")
    assert json.loads(dry.partition("\n")[2]) == {
        "label": "Keys",
        "entityID": "urn:mine",
        "certificate": first,
        "ssoURL": "https://keys.example/sso/HTTP-Redirect",
    }
    assert shell.ok("saml", "list") == "", "nothing is sent before it is confirmed"
    made = shell.ok(*create, "--yes").strip()
    shown = shell.json("saml", "show", made)
    assert (shown["status"], shown["entityID"], shown["certificate"]["pem"]) == ("active", "urn:keys", first)
    assert made in shell.ok("saml", "logins")

    text = metadata([first, second])
    ran = shell.run("saml", "edit", "Keys", "--metadata", "-", "--yes", typed=text)
    assert ran.exit_code == 0, ran.stderr
    assert shell.json("saml", "show", made)["certificate"]["pem"] == first + second

    file.write_text(metadata([first], before='<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'), "utf-8")
    (tmp_path / "key.pem").write_text(private_key())
    for options, reason in (
        (create[2:], "--metadata: has an external entity"),
        (("--label", "Keys", "--certificate", f"@{tmp_path / 'key.pem'}"), "--certificate: has a private key"),
        (("--label", "Keys", "--certificate", first[:200]), "--certificate: is cut off"),
    ):
        ran = shell.run("saml", "create", *options, "--yes")
        assert (ran.exit_code, ran.stderr.startswith(f"presscheck: {reason}")) == (2, True), ran.stderr
        assert ran.stderr.count("\n") == 1
    shell.ok("saml", "delete", made, "--yes")
