"""Of a test that is written for both engines, `make test` runs the one on SQLite, `make test-all` the other."""

from tests.service.engines import on_second_engine


def test_the_second_of_two_engines_is_slow() -> None:
    names = [f"a.py::test_{number}[{engine}]" for number in range(9) for engine in ("sqlite", "postgresql")]
    assert on_second_engine(names[::-1]) == {name for name in names if "postgresql" in name}


def test_what_has_no_twin_is_left_alone() -> None:
    names = ["a.py::test_a", "a.py::test_b[sqlite]", "a.py::test_c[postgresql]", "a.py::test_d[sqlite-postgresql]"]
    assert on_second_engine(names) == set()
