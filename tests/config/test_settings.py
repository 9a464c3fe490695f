"""Profiles: environment variables override the file, and a token is never shown."""

from pathlib import Path

import pytest

from presscheck.config.profile import HOSTED, load
from presscheck.config.settings_file import save_folder
from presscheck.config.validation import errors_in, read_folders, read_inbox_profiles, read_review_programs
from presscheck.errors import ConfigurationError
from presscheck.wiring import connect

FILE = """
[profiles.default]
token_file = "{token}"
[profiles.local]
base_url = "http://127.0.0.1:8300/"
read_only = true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("from the file\n")
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "config.toml").write_text(FILE.format(token=tmp_path / "token"))
    return tmp_path / "config.toml"


def test_the_default_is_the_hosted_service(tmp_path: Path) -> None:
    profile = load(tmp_path / "none.toml", environment={})
    assert (profile.name, profile.base_url, profile.token) == ("default", HOSTED, None)


def test_a_token_is_read_from_its_file_and_not_shown(file: Path) -> None:
    profile = load(file, environment={})
    assert profile.token == "from the file"
    assert "from the file" not in repr(profile)


def test_environment_variables_override_the_file(file: Path) -> None:
    profile = load(file, environment={"PRESSCHECK_TOKEN": "t", "PRESSCHECK_BASE_URL": "http://localhost:1/"})
    assert (profile.token, profile.base_url) == ("t", "http://localhost:1")


def test_profile_is_selected_by_name(file: Path) -> None:
    profile = load(file, "local", environment={})
    assert (profile.base_url, profile.read_only) == ("http://127.0.0.1:8300", True)
    assert load(file, environment={"PRESSCHECK_PROFILE": "local"}) == profile


def test_text_width_is_at_least_twenty(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[profiles.default]\ntext_width = 3")
    assert load(tmp_path / "config.toml", environment={}).text_width == 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[profiles.default]\ntheme = 3", "profiles.default.theme must be a quoted string"),
        ("[profiles]\ndefault = 3", r"profiles.default must be a table"),
        ("[profiles.default", "config.toml"),
        ("[profiles.default]\ntoken_file = '/nowhere/at/all'", "token_file /nowhere/at/all"),
        (
            "[profiles.default]\nbase_url = 'ftp://x'",
            'config.toml:2: profiles.default.base_url must be written as "https:',
        ),
        ("[profiles.default]\nbase_url = 'localhost:8300'", "base_url must be written as"),
        ("[profiles.default]\nquiet_hours = '22-7'", 'quiet_hours must be written as "22:00-07:00"'),
        ('[profiles.default]\nquiet_hours = "22:00-07:00\\n"', "quiet_hours must be written as"),
        ("[profiles.default]\nquiet_hours = '24:00-07:00'", "quiet_hours must be written as"),
        ("[profiles.default]\ntree_width = 15", "tree_width must be a whole number from 16 to 200, such as 40"),
        ("[profiles.default]\ntree_width = 201", "tree_width must be a whole number from 16 to 200"),
        ("[profiles.default]\npreview_size = true", "preview_size must be a whole number from 10 to 90"),
        ("[profiles.default]\ncache_size = 0", "cache_size must be a whole number of at least 1"),
        (
            "[profiles.default]\nfirst_screen = 'home'",
            "first_screen must be one of inbox, browse, publish",
        ),
        ("[profiles.default]\nfirst_view = '" + "x" * 41 + "'", "first_view is too long: at most 40 characters"),
        ("[profiles.default]\nnotify_command = 'say \"'", "notify_command must be a command line"),
    ],
)
def test_an_invalid_setting_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        load(tmp_path / "config.toml", environment={})


def test_an_unknown_profile_is_an_error(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"profile \[profiles.other\] not found"):
        load(file, "other", environment={})


def test_a_token_file_readable_by_others_is_rejected(file: Path, tmp_path: Path) -> None:
    (tmp_path / "token").chmod(0o640)
    with pytest.raises(ConfigurationError, match="other users can read the file; run `chmod 600"):
        load(file, environment={})


@pytest.mark.parametrize("url", ["https://docs.example", "http://localhost:3", "http://[::1]:3", "unix:/run/s.sock"])
def test_secure_urls_are_accepted(file: Path, url: str) -> None:
    assert load(file, environment={"PRESSCHECK_BASE_URL": url}).base_url == url


@pytest.mark.parametrize("url", ["http://docs.example", "http://10.0.0.3:8300", "http://localhost.example"])
def test_plain_http_requires_allow_http(file: Path, url: str) -> None:
    with pytest.raises(ConfigurationError, match="allow_http"):
        load(file, environment={"PRESSCHECK_BASE_URL": url})
    file.write_text(f"[profiles.default]\nbase_url = '{url}'\nallow_http = true\n")
    profile = load(file, environment={"PRESSCHECK_TOKEN": "t"})
    assert profile.base_url == url
    assert url.removeprefix("http://") in repr(connect(profile)), "the client takes it too"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('inbox_profiles = ["work", "gone"]', "1: inbox_profiles has no profile [profiles.gone]: add it, or remove"),
        ('# x\ninbox_profiles = [\n"work",\n"work"]', "2: inbox_profiles has 'work' twice"),
        ("inbox_profiles = []", "1: inbox_profiles must be a list of profiles"),
        ('inbox_profiles = "work"', "1: inbox_profiles must be a list of profiles"),
        ("inbox_profiles = [3]", "1: inbox_profiles must be a list of profiles"),
    ],
)
def test_inbox_profiles_are_validated(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"{text}\n[profiles.work]\n")
    [error] = errors_in(file)
    assert message in str(error)
    with pytest.raises(ConfigurationError, match="inbox_profiles"):
        read_inbox_profiles(file)
    assert load(file, "work", {}).name == "work", "the app starts anyway"


def test_inbox_profiles_keep_their_order(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('inbox_profiles = ["work", "client"]\n[profiles.client]\ntheme = 3\n[profiles.work]\n')
    assert read_inbox_profiles(file) == ("work", "client"), "also if a profile has an error"
    file.write_text("[profiles.client]\n")
    assert read_inbox_profiles(file) is None


def test_folders_of_spaces_are_validated(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[folders]\nGuides = "~/guides"\n"API docs" = "relative"\nOther = 3\n')
    assert read_folders(file) == {"Guides": "~/guides"}
    save_folder(file, "Notes", "/srv/notes")
    assert read_folders(file) == {"Guides": "~/guides", "Notes": "/srv/notes"}
    assert file.read_text().startswith('[folders]\nGuides = "~/guides"\n')
    file.write_text('folders = "x"\n')
    assert read_folders(file) == {}


def test_review_programs_are_validated(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    lines = ("own = \"python3 '~/my review.py'\"", 'list = ["python3"]', 'open = "\'"', 'empty = ""', '"a b" = "x"')
    file.write_text("[review_programs]\n" + "\n".join(lines))
    assert read_review_programs(file) == {"own": ("python3", "~/my review.py")}
    errors = [str(error).removeprefix(f"{file}:") for error in errors_in(file)]
    assert errors == [
        '3: review_programs.list must be a quoted string on one line, such as "my-reviewer --json"',
        "4: review_programs.open has a quotation mark without its end",
        "5: review_programs.empty is empty: remove it",
        "6: review_programs.a b must have a name of at most 40 letters, digits, dashes and underscores",
    ]
    file.write_text('review_programs = "x"\n')
    assert read_review_programs(file) == {}
