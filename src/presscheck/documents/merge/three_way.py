"""Three-way comparison of sequences, region by region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from merge3 import Merge3

from presscheck.documents.diff.sequence_matcher import matches


class Region(NamedTuple):
    """A region of three sequences; `kind` is conflict if both sides changed it, theirs if only they did.

    `start` is the index in ours at which a conflict starts.
    """

    kind: str
    base: Sequence[str]
    ours: Sequence[str]
    theirs: Sequence[str]
    start: int = 0

    @property
    def taken(self) -> Sequence[str]:
        """The merged region; of a conflict, ours."""
        return self.theirs if self.kind == "theirs" else self.ours


def three_way(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Region]:
    """Yields the regions of a three-way merge."""
    for region in Merge3(base, ours, theirs, sequence_matcher=_Matcher).merge_regions():
        if region[0] == "conflict":
            _, at, end, our_at, our_end, their_at, their_end = region
            yield Region("conflict", base[at:end], ours[our_at:our_end], theirs[their_at:their_end], our_at)
            continue
        kind, at, end = region
        if kind == "b":
            yield Region("theirs", (), (), theirs[at:end])
        else:
            yield Region("ours" if kind == "a" else "same", (), (base if kind == "unchanged" else ours)[at:end], ())


class _Matcher:
    """Adapts `sequence_matcher` to the interface that merge3 expects."""

    def __init__(
        self,
        isjunk: Callable[[str], bool] | None = None,
        a: Sequence[str] = (),
        b: Sequence[str] = (),
        autojunk: bool = False,
    ) -> None:
        self._sides = a, b

    def get_matching_blocks(self) -> list[tuple[int, int, int]]:
        """Returns the matching blocks, and an empty one at the end."""
        return [*matches(*self._sides), (len(self._sides[0]), len(self._sides[1]), 0)]
