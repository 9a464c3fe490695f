"""Saved views in the settings file: validation; edits of views and settings that keep everything else."""

import tomllib
from pathlib import Path

import pytest

from presscheck.config.profile import load
from presscheck.config.saved_views import SavedView
from presscheck.config.settings_file import add_view, change_view, remove_view, save_setting
from presscheck.config.validation import errors_in, read_views
from presscheck.engine.inbox.views import validate_view
from presscheck.errors import ConfigurationError

FILE = """# my settings
theme_of_mine = "a comment # in a text"  # kept

# about A
[[views]]
name = "A"  # the first
query = "space:api"

# about the profile
[profiles.default]
theme = "ink"

# about B
[[views]]
# inside B
name = 'B'
sort = "number"

# the end
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "config.toml").write_text(FILE)
    (tmp_path / "config.toml").chmod(0o600)
    return tmp_path / "config.toml"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[views]]\nquery = 'x'", "1: views.1 has no name"),
        ("[[views]]\nname = 3", "2: views.1.name must be a quoted string"),
        ("[[views]]\nname = ''", "2: views.1.name is empty"),
        (f"[[views]]\nname = '{'x' * 41}'", "2: views.1.name is too long: at most 40 characters"),
        (f"[[views]]\nname = 'a'\nquery = '{'x' * 401}'", "3: views.1.query is too long: at most 400 characters"),
        ("[[views]]\nname = 'a'\n[[views]]\nname = 'A '", "4: views.2.name is already used by another view"),
        ("[[views]]\nname = 'Needs me'", "2: views.1.name is the name of a built-in view"),
        ("[[views]]\nname = 'a'\nsort = 'colour'", "3: views.1.sort must be one of updated, created"),
        ("[[views]]\nname = 'a'\ngroup = 'author'", '3: views.1.group must be "space"'),
        ("[[views]]\nname = 'a'\ncolour = 'red'", "3: views.1.colour is not a known setting; known: name, query"),
        ("[[views]]\nname = 'a'\nquery = 'comments:many'", "3: views.1.query is invalid: comments: a number"),
        ('[[views]]\nname = "a\\u001b"', "2: views.1.name must be one line"),
        ("views = 3", "1: views must be written as [[views]]"),
        ("views = [3]", "1: views.1 must be a table"),
        ("\n".join(f"[[views]]\nname = 'v{n}'" for n in range(21)), "41: views.21 exceeds the limit of 20 views"),
    ],
)
def test_invalid_view_is_reported_and_does_not_affect_profiles(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    assert next(str(one) for one in errors_in(file, validate_view)).startswith(f"{file}:{says}")
    assert load(file, environment={}).name == "default"


def test_valid_views_are_read_despite_invalid_ones(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[[views]]\nname = 'a'\nsort = 'x'\n[[views]]\nname = 'b'\nquery = ' space:api '\n")
    views, mistakes = read_views(file, validate_view)
    assert views == (SavedView("b", "space:api"),)
    assert len(mistakes) == 1


@pytest.mark.parametrize(
    ("lines", "view"),
    [
        ("sort = 'comments'", SavedView("a", "", "-comments")),
        ("sort = '-updated'", SavedView("a", "", "updated")),
        ("sort = '-number'", SavedView("a", "", "-number")),
        ("query = 'space:api sort:created'", SavedView("a", "space:api", "-created")),
        ("query = 'sort:created limits'\nsort = 'comments'", SavedView("a", "limits", "-comments")),
        ("sort_by = 'comments'", SavedView("a", "", "comments")),
        ("query = 'sort:created'\nsort_by = '-comments'", SavedView("a", "", "-comments")),
    ],
)
def test_a_view_of_version_0_1_0_keeps_its_order(tmp_path: Path, lines: str, view: SavedView) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"[[views]]\nname = 'a'\n{lines}\n")
    assert read_views(file, validate_view) == ((view,), ())
    change_view(file, "a", view)
    assert "sort =" not in file.read_text(), "from now on it is written in the new way"
    assert read_views(file, validate_view) == ((view,), ())


def test_unknown_order_in_a_query_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[[views]]\nname = 'a'\nquery = 'sort:colour'\n")
    [error] = errors_in(file, validate_view)
    assert "sort: one of updated" in str(error)


def test_a_view_is_added_after_the_others(file: Path) -> None:
    add_view(file, SavedView('Ünïcode "quoted"', 'space:"a b"', "-number", "space"))
    added = (
        '\n[[views]]\nname = "Ünïcode \\"quoted\\""\nquery = "space:\\"a b\\""\nsort_by = "-number"\ngroup = "space"\n'
    )
    assert file.read_text() == FILE.replace('sort = "number"\n', 'sort = "number"\n' + added)
    assert read_views(file)[0][2] == SavedView('Ünïcode "quoted"', 'space:"a b"', "-number", "space")
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("before", ["", "# only this", "[profiles.default]\ntheme = 'ink'\n"])
def test_the_first_view_is_added_at_the_end(tmp_path: Path, before: str) -> None:
    file = tmp_path / "new" / "config.toml"
    if before:
        file.parent.mkdir()
        file.write_text(before)
        file.chmod(0o644)
    add_view(file, SavedView("A"))
    assert file.read_text().startswith(before)
    assert read_views(file)[0] == (SavedView("A"),)
    assert file.stat().st_mode & 0o777 == (0o644 if before else 0o600)


def test_a_view_is_changed_in_place(file: Path) -> None:
    change_view(file, "a", SavedView("A1", "space:cli", "updated", ""))
    change_view(file, "B", SavedView("B", "", "", "space"))
    expected = FILE.replace('name = "A"', 'name = "A1"').replace('"space:api"\n', '"space:cli"\nsort_by = "updated"\n')
    assert file.read_text() == expected.replace('sort = "number"', 'group = "space"')


def test_removing_a_view_keeps_comments_about_others(file: Path) -> None:
    remove_view(file, "A")
    left = FILE.replace('[[views]]\nname = "A"  # the first\nquery = "space:api"\n', "")
    assert file.read_text() == left
    remove_view(file, "B")
    assert tomllib.loads(file.read_text()).keys() == {"theme_of_mine", "profiles"}
    assert file.read_text().endswith("# about B\n\n# the end\n")
    with pytest.raises(ConfigurationError, match="the view no longer exists"):
        remove_view(file, "B")


def test_line_endings_and_links_are_kept(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(b'# x\r\n[[views]]\r\nname = "A"\r\n')
    (tmp_path / "config.toml").symlink_to(real)
    change_view(tmp_path / "config.toml", "A", SavedView("B"))
    assert real.read_bytes() == b'# x\r\n[[views]]\r\nname = "B"\r\n'
    assert (tmp_path / "config.toml").is_symlink()


def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.symlink_to(file)
    with pytest.raises(ConfigurationError, match=r"Could not write config\.toml: Too many levels of symbolic links"):
        save_setting(file, "default", "theme", "paper")
    assert file.is_symlink()


@pytest.mark.parametrize(
    "text",
    [
        "views = [{name = 'A'}]\n",
        "x = '''\n[[views]]\nname = 'A'\n'''\n[[views]]\nname = 'A'\n",
        "[[views]\n",
    ],
)
def test_an_ambiguous_file_is_not_changed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    for act in (lambda: add_view(file, SavedView("B")), lambda: remove_view(file, "A")):
        with pytest.raises(ConfigurationError):
            act()
    assert file.read_text() == text


def test_a_failed_write_leaves_the_file_unchanged(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(ConfigurationError, match=r"Could not write config.toml: No space left"):
        add_view(file, SavedView("C"))
    assert file.read_text() == FILE
    assert [one.name for one in file.parent.iterdir()] == ["config.toml"]


def test_a_setting_is_saved_in_its_profile(file: Path) -> None:
    save_setting(file, "default", "user", 'An"a')
    added = FILE.replace("[profiles.default]\n", '[profiles.default]\nuser = "An\\"a"\n')
    assert file.read_text() == added
    save_setting(file, "default", "user", "ana")
    assert file.read_text() == added.replace('"An\\"a"', '"ana"')
    save_setting(file, "my.work", "user", "bo")
    assert file.read_text().endswith('# the end\n\n[profiles."my.work"]\nuser = "bo"\n')
    for text in ("profiles = {default = {theme = 'ink'}}\n", "[profiles]\ndefault.theme = 'ink'\n"):
        file.write_text(text)
        with pytest.raises(ConfigurationError, match=r'write user = "ana" below \[profiles.default\]'):
            save_setting(file, "default", "user", "ana")
        assert file.read_text() == text
