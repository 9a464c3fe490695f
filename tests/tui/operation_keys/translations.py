"""Translations of spaces."""

from tests.tui.operation_keys.driver import Family

from presscheck.api.translations import (
    GetTranslation,
    RunTranslation,
)

FAMILY = Family(
    without_keys={
        GetTranslation: "enter on a translation shows the fields of the list, not the translation",
        RunTranslation: "no key runs a translation again",
    }
)
