"""The list of profiles, which is read from stored data without creating files or reading tokens."""

from pathlib import Path

import pytest

from presscheck.config.profile import Profile
from presscheck.engine.profiles import inbox_profiles, list_profiles, store_needs_me
from presscheck.paths import Places, store_name
from presscheck.store.outbox import Outbox


@pytest.fixture
def where(tmp_path: Path) -> Places:
    return Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")


def write_settings(where: Places, text: str) -> None:
    where.config.mkdir()
    where.config_file.write_text(text)


def test_token_of_the_environment_is_for_the_profile_of_the_process_only(
    where: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(where, "[profiles.bare]\n[profiles.command]\ntoken_command = 'touch \"/nowhere\"'\n")
    monkeypatch.setenv("PRESSCHECK_TOKEN", "secret")
    profiles = list_profiles(where, Profile(token="secret"))
    assert [(each.name, each.has_token) for each in profiles] == [("bare", False), ("command", True), ("default", True)]


def test_unreadable_stored_values_are_left_out(where: Places) -> None:
    write_settings(
        where,
        '[profiles.hostile]\nbase_url = "https://a:b@docs.example.org"\n[profiles.broken]\nbase_url = "unix:/s.sock"\n'
        '[profiles."../x"]\n[profiles."\\u001b[31m"]\n',
    )
    outbox = Outbox(where.outbox_file(store_name("hostile", "https://a:b@docs.example.org")))
    outbox.remember("me", '{"displayName": 3}')
    store_needs_me(outbox, 4)
    outbox.close()
    where.outbox_file(store_name("broken", "unix:/s.sock")).write_bytes(b"no database")
    broken, default, hostile = list_profiles(where, Profile())
    assert (hostile.host, hostile.user, hostile.needs_me) == ("docs.example.org", "3", 4)
    assert hostile.age < 60
    assert (broken.host, broken.needs_me) == ("unix:/s.sock", None)
    assert (default.name, default.needs_me) == ("default", None)
    assert not where.outbox_file(store_name("default", default.base_url)).exists(), "nothing is created"


def test_inbox_shows_the_chosen_profiles_or_all(where: Places) -> None:
    assert inbox_profiles(where, "demo") == ("demo",)
    profiles = '[profiles.work]\n[profiles.client]\ntheme = 3\n[profiles."\\u001b[31m"]\n'
    write_settings(where, profiles)
    assert inbox_profiles(where, "demo") == ("client", "demo", "work"), "without names that are not allowed"
    where.config_file.write_text(f'inbox_profiles = ["work", "client"]\n{profiles}')
    assert inbox_profiles(where, "demo") == ("work", "client")
