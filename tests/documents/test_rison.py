"""Rison, the format of visitor claims in URLs."""

from typing import Any

import pytest

from presscheck.documents.rison import InvalidRison, load_rison

VALUES: dict[str, Any] = {
    "(isBeta:!t)": {"isBeta": True},
    "()": {},
    "!()": [],
    "(a:0,b:-1.5,c:1e3,d:2e-2)": {"a": 0, "b": -1.5, "c": 1000.0, "d": 0.02},
    "(a:!n,b:!f,c:!(x,'',!(y)))": {"a": None, "b": False, "c": ["x", "", ["y"]]},
    "(plan:pro-2,'a key':'it!'s (not) !! a:b')": {"plan": "pro-2", "a key": "it's (not) ! a:b"},
    "(é:'漢字',1:x)": {"é": "漢字", "1": "x"},
}
INVALID = (
    "", "(", "(a", "(a:", "(a:)", "(a:1", "(a:1,)", "(,a:1)", "(a:1 )", "(!(a):1)", "((a:1):1)", "(!t:1)",
    "!", "!x", "!(", "!(a", "!(a,)", "'a", "'a!",
    "a b", "01", "-", "(a:1)(b:2)", "(a:1)x", "(" * 50, "!(" * 5000, "(a:" * 5000,
)  # fmt: skip


def test_values() -> None:
    for text, value in VALUES.items():
        assert load_rison(text) == value, text


def test_invalid_rison_is_refused() -> None:
    for text in INVALID:
        with pytest.raises(InvalidRison):
            load_rison(text)
            pytest.fail(text)
