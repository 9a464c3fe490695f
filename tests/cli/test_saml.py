"""`presscheck saml`: certificates in lists and details, and providers from their metadata, on the real service."""

import json
from pathlib import Path

import pytest
from tests.cli.shell import Shell
from tests.saml_files import body, certificate, metadata, private_key


@pytest.mark.slow
def test_the_list_warns_of_certificates(shell: Shell, tmp_path: Path) -> None:
    soon, gone = tmp_path / "soon.pem", tmp_path / "gone.pem"
    soon.write_text(certificate("Soon", days=12))
    gone.write_text(body(certificate("Gone", days=-3)), "utf-8")
    shell.ok("saml", "create", "--label", "Soon", "--certificate", f"@{soon}")
    shell.ok("saml", "create", "--label", "Gone", "--certificate", f"@{gone}")
    shell.ok("saml", "create", "--label", "None")
    shell.ok("api", "create-saml-provider", "--organization-id", "tallowick", "--label", "Broken", "--certificate", "x")
    rows = {row[1]: row[5] for row in (line.split("\t") for line in shell.ok("saml", "list").splitlines())}
    assert rows == {
        "Soon": "expires in 12 days",
        "Gone": "expired 3 days ago",
        "None": "",
        "Broken": "invalid: is not a certificate: neither PEM nor base64",
    }
    assert shell.ok("saml", "list", "--limit", "1").count("\n") == 1
    told = {one["label"]: one["certificate"] for one in shell.json("saml", "list")}
    assert told["None"] is None
    assert (told["Soon"]["state"], told["Soon"]["days_left"], told["Soon"]["subject"]) == ("warning", 12, "CN=Soon")
    assert told["Soon"]["expires_at"].endswith("+00:00") and told["Soon"]["fingerprint_sha256"].count(":") == 31
    assert told["Gone"]["pem"] == certificate_lines(gone.read_text())
    assert told["Broken"]["problem"] == "is not a certificate: neither PEM nor base64"
    shown = shell.ok("saml", "show", "soon")
    assert "certificate.issuer: CN=Soon CA\n" in shown and "BEGIN" not in shown
    for label in rows:
        shell.ok("saml", "delete", label, "--yes")


def certificate_lines(text: str) -> str:
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join(("-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""))


def test_a_provider_from_its_metadata(shell: Shell, tmp_path: Path) -> None:
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
