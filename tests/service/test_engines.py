"""Selection of the PostgreSQL variants of tests, which are slow tests, so that `make test` does not run them."""

from tests.service.engines import on_second_engine


def test_postgresql_variants_of_tests_are_slow() -> None:
    names = [f"a.py::test_{number}[{engine}]" for number in range(9) for engine in ("sqlite", "postgresql")]
    assert on_second_engine(names[::-1]) == {name for name in names if "postgresql" in name}


def test_tests_without_a_twin_are_not_slow() -> None:
    names = ["a.py::test_a", "a.py::test_b[sqlite]", "a.py::test_c[postgresql]", "a.py::test_d[sqlite-postgresql]"]
    assert on_second_engine(names) == set()
