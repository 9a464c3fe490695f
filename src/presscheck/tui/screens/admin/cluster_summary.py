"""The summary above the issues of a group: its text, its course by week, its sources and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presscheck.api.conversations import IssuesCluster
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.screens.admin.facts import sparkline

LINES = 3
"""Lines of a summary that stand above its issues."""
TASKS = {"tasks_backlog": "open", "tasks_started": "started", "tasks_completed": "done", "tasks_cancelled": "cancelled"}
"""The numbers of tasks, and what they are called."""


def cluster_lines(cluster: IssuesCluster, columns: int) -> Sequence[Line]:
    """What stands above the issues of a group: its summary, its course over the weeks, its sources and tasks."""
    summary = wrap((Span(sanitize(cluster.summary)),), max(20, columns - 2)) if cluster.summary else []
    cut = [*summary[: LINES - 1], (*summary[LINES - 1], Span(" …"))] if len(summary) > LINES else summary
    stats = cluster.stats
    course = f"{sparkline(cluster.weekly_pulse)}  " if cluster.weekly_pulse else ""
    sources = ", ".join(f"{sanitize(name)} {number:,g}" for name, number in _numbers(cluster.sources))
    facts = [f"{count(stats.issues, 'issue')} in {count(stats.conversations, 'conversation')}"]
    facts += [f"from {sources}"] if sources else []
    tasks = [f"{number:,} {word}" for name, word in TASKS.items() if (number := getattr(stats, name))]
    facts += [f"tasks: {', '.join(tasks)}"] if tasks else ["no tasks"]
    told = wrap((Span(course, "accent"), Span(" · ".join(facts), "quiet")), max(20, columns - 2))
    return [(Span(" "), *line) for line in (*cut, *told)]


def _numbers(sources: Any) -> list[tuple[str, float]]:
    """How many conversations came from each source, the most first; what is no number is left out."""
    known: dict[str, Any] = sources or {}
    numbers = [(name, float(number)) for name, number in known.items() if isinstance(number, int | float)]
    return sorted(numbers, key=lambda one: -one[1])
