"""Of a test that is written for both engines, `make test` runs one; both engines have their share."""

from tests.service.engines import in_turn


def test_of_two_engines_one_is_taken_and_always_the_same() -> None:
    names = [f"a.py::test_{number}[{engine}]" for number in range(100) for engine in ("sqlite", "postgresql")]
    chosen = in_turn(names)
    assert chosen == in_turn(names[::-1])
    assert {name.partition("[")[0] for name in chosen} == {name.partition("[")[0] for name in names}
    assert len(chosen) == 100
    assert 30 < sum("sqlite" in name for name in chosen) < 70


def test_what_has_no_twin_always_runs() -> None:
    names = ["a.py::test_a", "a.py::test_b[sqlite]", "a.py::test_c[postgresql]", "a.py::test_d[sqlite-postgresql]"]
    assert in_turn(names) == set(names)
