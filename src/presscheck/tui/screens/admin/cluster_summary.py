"""The summary of a group of issues, shown above the issues in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presscheck.api.conversations import IssuesCluster
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.screens.admin.facts import sparkline

LINES = 3
"""Maximum number of lines of the summary text."""
TASKS = {"tasks_backlog": "open", "tasks_started": "started", "tasks_completed": "done", "tasks_cancelled": "cancelled"}
"""Labels of the task counts, by field of the statistics."""


def cluster_lines(cluster: IssuesCluster, columns: int) -> Sequence[Line]:
    """Return the lines above the issues of a group: summary, issues by week, sources and tasks."""
    summary = wrap((Span(sanitize(cluster.summary)),), max(20, columns - 2)) if cluster.summary else []
    cut = [*summary[: LINES - 1], (*summary[LINES - 1], Span(" …"))] if len(summary) > LINES else summary
    stats = cluster.stats
    pulse = f"{sparkline(cluster.weekly_pulse)}  " if cluster.weekly_pulse else ""
    sources = ", ".join(f"{sanitize(name)} {number:,g}" for name, number in _numbers(cluster.sources))
    facts = [f"{count(stats.issues, 'issue')} in {count(stats.conversations, 'conversation')}"]
    facts += [f"from {sources}"] if sources else []
    tasks = [f"{number:,} {word}" for name, word in TASKS.items() if (number := getattr(stats, name))]
    facts += [f"tasks: {', '.join(tasks)}"] if tasks else ["no tasks"]
    facts_lines = wrap((Span(pulse, "accent"), Span(" · ".join(facts), "quiet")), max(20, columns - 2))
    return [(Span(" "), *line) for line in (*cut, *facts_lines)]


def _numbers(sources: Any) -> list[tuple[str, float]]:
    """Return the number of conversations by source, largest first. Values that are not numbers are skipped."""
    by_source: dict[str, Any] = sources or {}
    numbers = [(name, float(number)) for name, number in by_source.items() if isinstance(number, int | float)]
    return sorted(numbers, key=lambda item: -item[1])
