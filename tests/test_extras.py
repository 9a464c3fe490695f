"""The extras: errors name the missing library and the command that installs it."""

import sys

import pytest

from presscheck.errors import ConfigurationError, MissingExtra
from presscheck.extras import EXTRAS, missing_modules, require_extra


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_installed_extra_raises_no_error(extra: str) -> None:
    require_extra(extra)
    assert [*missing_modules(extra)] == []


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_error_names_each_missing_module(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in EXTRAS[extra].modules:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(MissingExtra) as error:
                require_extra(extra)
        assert f"({module} is not installed): pip install 'presscheck[{extra}]'" in error.value.message
        assert isinstance(error.value, ConfigurationError), "the exit code of usage errors"
