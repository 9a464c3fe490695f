"""The file with the severities of checks: levels by site, and errors with file, line and the known names."""

from pathlib import Path

import pytest

from presscheck.config.checks_file import MAX_BYTES, ChecksFile
from presscheck.errors import ConfigurationError

KNOWN = ("broken-link", "long-title")


def read(tmp_path: Path, text: str | bytes) -> ChecksFile:
    """Write the text to a file. Returns the `ChecksFile` that reads it."""
    file = tmp_path / "presscheck.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return ChecksFile(tmp_path / "config.toml", given=file)


def test_severities_of_a_site_override_the_general_ones(tmp_path: Path) -> None:
    text = '[checks]\nlong-title = "off"\nbroken-link = "info"\n\n[sites."My Docs"]\nlong-title = "error"\n'
    levels = read(tmp_path, text).read(KNOWN)
    assert levels.of("w1", "my docs") == {"long-title": "error", "broken-link": "info"}
    assert levels.of("w2", "Other") == {"long-title": "off", "broken-link": "info"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[checks]\n\nlong-titel = "off"\n',
            ":3: checks.long-titel is not a known check; known: broken-link, long-title",
        ),
        ('[sites.Docs]\nlong-title = "loud"\n', ":2: sites.Docs.long-title must be one of error, warning, info, off"),
        ("[checks]\nlong-title = 3\n", ":2: checks.long-title must be one of error, warning, info, off"),
        ('[check]\nx = "off"\n', ':1: check is not a known table; known: [checks], [sites."TITLE OR ID"]'),
        ("sites = 1\n", ':1: sites must be tables, such as [sites."Docs"]'),
        ("checks = 1\n", ":1: checks must be a table with checks and their severities"),
        ("[checks\n", ":1: is not valid TOML: "),
        (b"\xff", ": is not UTF-8 text: save the file as UTF-8"),
        (b"#" * (MAX_BYTES + 1), ": is larger than 256 KB: shorten it"),
    ],
)
def test_invalid_file_is_rejected(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read(tmp_path, text).read(KNOWN)
    assert str(raised.value).startswith(f"{tmp_path / 'presscheck.toml'}{message}")


def test_only_an_explicitly_named_file_must_exist(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    assert ChecksFile(settings).read(KNOWN).of("w1") == {}
    with pytest.raises(ConfigurationError, match=r"team\.toml: not found: create it, or name another file"):
        ChecksFile(settings, "team.toml").read(KNOWN)
    (tmp_path / "checks.toml").write_text('[checks]\nlong-title = "off"\n')
    assert ChecksFile(settings).read(KNOWN).of("w1") == {"long-title": "off"}
