"""Ordinary English sentences, and unique words in them that a test can look for."""

from __future__ import annotations

import re

from tests.generated_docs.pieces import Chance

SUBJECTS = [
    "The pump",
    "The operator",
    "A scheduled job",
    "The harbour office",
    "Every worker",
    "The archive",
    "A project owner",
    "The scheduler",
    "An expired token",
    "The ferry crew",
    "The control room",
    "A new tenant",
    "The billing export",
    "Each sensor",
    "The night shift",
    "A failed upload",
    "The gateway",
    "The release notice",
    "A signed request",
    "The water board",
    "The map service",
    "An auditor",
    "The backup volume",
    "A second region",
    "The support desk",
    "The weather feed",
    "A loading dock",
    "The inspection team",
]
VERBS = [
    "checks",
    "records",
    "replaces",
    "delays",
    "confirms",
    "publishes",
    "reads",
    "closes",
    "compares",
    "restores",
    "rejects",
    "measures",
    "collects",
    "announces",
    "inherits",
    "renews",
    "protects",
    "moves",
    "counts",
    "schedules",
    "verifies",
    "forwards",
    "empties",
    "signs",
    "repeats",
    "archives",
]
OBJECTS = [
    "the previous reading",
    "every open valve",
    "a copy of the manifest",
    "the shared calendar",
    "its own retry limit",
    "the list of regions",
    "two independent keys",
    "the monthly statement",
    "a queue of messages",
    "the tide table",
    "the oldest snapshot",
    "each delivery address",
    "the default policy",
    "an unread warning",
    "the public status page",
    "all pending approvals",
    "the cabinet temperature",
    "a missing checksum",
    "the harbour register",
    "the chosen language",
    "the spare generator",
    "a draft of the report",
    "the visitor log",
    "an encrypted field",
    "the route of the ferry",
]
CLAUSES = [
    "before the morning inspection",
    "when the network comes back",
    "after three attempts",
    "without asking again",
    "once the owner has agreed",
    "during planned maintenance",
    "as long as the lease is valid",
    "unless a newer one exists",
    "in the order of arrival",
    "at the end of each quarter",
    "while the others keep running",
    "on behalf of the whole team",
    "if the pressure drops below nine bar",
    "so that nobody waits for it",
    "with a note for the next shift",
    "because the first answer may be stale",
    "from the second login onwards",
    "until the window closes",
    "even though the cache is warm",
    "for customers in other countries",
]
TOPICS = [
    "Access",
    "Alerts",
    "Archives",
    "Backups",
    "Billing",
    "Calendars",
    "Certificates",
    "Compressors",
    "Consent",
    "Contracts",
    "Deliveries",
    "Devices",
    "Exports",
    "Ferries",
    "Filters",
    "Gateways",
    "Harbours",
    "Imports",
    "Invoices",
    "Keys",
    "Languages",
    "Licences",
    "Limits",
    "Logs",
    "Maintenance",
    "Maps",
    "Messages",
    "Metrics",
    "Migration",
    "Notices",
    "Passwords",
    "Permits",
    "Pipelines",
    "Policies",
    "Pumps",
    "Quotas",
    "Regions",
    "Reports",
    "Retention",
    "Routes",
    "Schedules",
    "Sensors",
    "Sessions",
    "Shifts",
    "Snapshots",
    "Storage",
    "Tanks",
    "Tenants",
    "Tokens",
    "Upgrades",
    "Valves",
    "Visitors",
    "Volumes",
    "Warehouses",
    "Webhooks",
    "Workers",
]
FORMS = [
    "{}",
    "Working with {}",
    "How to plan {}",
    "{} in detail",
    "Limits of {}",
    "{} at night",
    "Common questions about {}",
    "Moving {}",
    "{} API",
    "Troubleshooting {}",
    "{} for teams",
    "Removing {}",
]
MARKER = re.compile(r"(?<![a-z])qo(?:[bdfgklmnprst][aeiou]){4}(?![a-z])")
_CONSONANTS, _VOWELS = "bdfgklmnprst", "aeiou"


class Prose:
    """Writes sentences; with `marked`, each has a word that stands nowhere else in what it writes."""

    def __init__(self, chance: Chance, *, marked: bool = False) -> None:
        self.chance = chance
        self.marked = marked
        self._count = 0

    def marker(self) -> str:
        """A word that was not written before, ` qo…`; empty where nothing is marked."""
        if not self.marked:
            return ""
        self._count += 1
        number, letters = self._count * 7919, "qo"
        for _ in range(4):
            letters += _CONSONANTS[number % 12]
            number //= 12
            letters += _VOWELS[number % 5]
            number //= 5
        return f" {letters}"

    def words(self) -> str:
        """A few words without a full stop."""
        return self.chance.choice(OBJECTS) + self.marker()

    def sentence(self) -> str:
        """A sentence of 7 to 16 words."""
        parts = [self.chance.choice(SUBJECTS), self.chance.choice(VERBS), self.chance.choice(OBJECTS) + self.marker()]
        if self.chance.share(0.8):
            parts.append(self.chance.choice(CLAUSES))
        return " ".join(parts) + "."

    def paragraph(self, least: int = 1, most: int = 4) -> str:
        """Sentences on one line."""
        return " ".join(self.sentence() for _ in range(self.chance.between(least, most)))

    def title(self) -> str:
        """The title of a page, in plain words."""
        form = self.chance.choice(FORMS)
        topic = self.chance.choice(TOPICS)
        return form.format(topic if form.startswith("{}") else topic.lower())


def markers_in(text: str) -> set[str]:
    """The unique words of a text."""
    return set(MARKER.findall(text))
