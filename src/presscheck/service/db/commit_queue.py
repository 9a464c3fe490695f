"""Writers of one place wait for each other in a queue, and those that waited are committed together.

On SQLite the place is the database, which has one writer; on PostgreSQL it is what the writers name, such as a space,
because there a writer who met another one would have to begin again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

from sqlalchemy.orm import Session

MOST_TOGETHER = 16
"""Most writes of a group."""
LONGEST_OPEN = 0.1
"""How long a group takes further writes, in seconds: all of them wait for its commit."""


class Write:
    """A function that changes the database, with its result.

    Args:
        work: the function.
        joins: whether it may be committed together with others; not if it takes long, as they wait for it.

    Attributes:
        result: what the function returned.
        error: what it raised, or the database.
        is_settled: whether it was committed, or failed.
    """

    def __init__(self, work: Callable[[Session], Any], *, joins: bool) -> None:
        self.joins = joins
        self.result: Any = None
        self.error: BaseException | None = None
        self.is_settled = False
        self._work = work
        self._context = copy_context()  # another thread may run it
        self._woken = threading.Event()

    def run(self, session: Session) -> Any:
        """Calls the function, with the context variables of the thread that made this object."""
        return self._context.run(self._work, session)

    def wait(self) -> None:
        """Waits until it is settled, or has to lead the next group."""
        self._woken.wait()

    def wake(self) -> None:
        """Ends `wait`."""
        self._woken.set()

    def settle(self) -> None:
        """Marks its result as final."""
        self.is_settled = True
        self._woken.set()


class CommitQueue:
    """The writers of one place, first come, first served; a group is committed by the thread of its first writer.

    Attributes:
        is_busy: whether a group is being committed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Write] = deque()
        self.is_busy = False

    @property
    def waiting(self) -> int:
        """How many writes wait for their turn."""
        return len(self._waiting)

    def pass_through(self, write: Write, commit: Callable[[Group], None]) -> None:
        """Returns when the write is settled.

        Args:
            write: the write.
            commit: runs and commits a group, and sets `result` and `error` of its writes.
        """
        with self._lock:
            leads = not self.is_busy
            if leads:
                self.is_busy = True
            else:
                self._waiting.append(write)
        if not leads:
            write.wait()
            if write.is_settled:
                return
        group = Group(write, self)
        try:
            commit(group)
        except BaseException as error:  # raised where each of them waits
            for each in group.writes:
                each.error = error
        finally:
            self._give_up_turn()
            for each in group.writes:
                each.settle()

    def next_to_join(self) -> Write | None:
        """The next write that waits, taken out of the queue; None if there is none, or it must be alone."""
        with self._lock:
            return self._waiting.popleft() if self._waiting and self._waiting[0].joins else None

    def _give_up_turn(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().wake()  # its thread leads the next group
            else:
                self.is_busy = False


class Group:
    """Writes of one transaction.

    Args:
        first: the first write.
        queue: where others wait; None if there is no queue.
    """

    def __init__(self, first: Write, queue: CommitQueue | None = None) -> None:
        self._writes = [first]
        self._queue = queue if first.joins else None
        self._begun = time.monotonic()

    @property
    def writes(self) -> Sequence[Write]:
        """The writes so far, in their order."""
        return self._writes

    def grow(self) -> Write | None:
        """The next write, which waited meanwhile; None if the group is complete."""
        is_open = len(self._writes) < MOST_TOGETHER and time.monotonic() - self._begun < LONGEST_OPEN
        write = self._queue.next_to_join() if self._queue and is_open else None
        if write:
            self._writes.append(write)
        return write

    def close(self) -> None:
        """No other write joins it."""
        self._queue = None
