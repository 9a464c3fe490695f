"""Many rows for a row list, and a slow page layout."""

from dataclasses import dataclass, field

from presscheck.text.styled_text import Line, Span

MANY = 100_000


def numbered(asked: list[int]):
    def row(index: int, columns: int) -> Line:
        asked.append(index)
        return (Span(f"row {index}"), Span(f" of {columns}", "quiet"))

    return row


@dataclass
class Heading:
    level: int
    text: str
    line: int
    block: int = -1
    is_hidden: bool = False
    is_conflict: bool = False


@dataclass
class Slow:
    """A page layout that lays out its lines on demand; `lines` are the lines so far."""

    width: int
    size: int = 5000
    lines: list[Line] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return len(self.lines) >= self.size

    def at_least(self, count: int) -> None:
        while len(self.lines) < min(count, self.size):
            number = len(self.lines)
            if number % 100 == 50:
                self.headings.append(Heading(1, f"part {number}", number))
            link = f"https://x.example/{number}" if number % 3 == 0 else None
            self.lines.append((Span(f"line {number} in {self.width} "), Span("there", "link", link)))

    def place_of(self, line: int) -> tuple[int, int]:
        return (line, 0)

    def line_of(self, place: tuple[int, int]) -> int:
        return place[0]

    def advance(self, seconds: float) -> bool:
        if seconds:
            self.at_least(len(self.lines) + 200)
        return self.done
