"""The bases of configuration files: the configuration of a site when a file was written, kept for three-way comparison.

Without a base, a push could not distinguish the user's changes to the file from other people's changes to the site. A
part that a command prints for editing has a base for the same reason.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from presscheck.engine.site_config.comparison import (
    DEFAULT,
    DEFAULT_SECTION,
    ORDER,
    Difference,
    Drift,
    Field,
    fields_of,
    file_fields,
    names_of,
    same_value,
)
from presscheck.engine.site_config.document import Part, SiteConfig
from presscheck.engine.site_config.files import read_file, text_of, write_file
from presscheck.errors import ConfigurationError, StoreError
from presscheck.paths import PRIVATE_FILE, make_private_directory


class Base(NamedTuple):
    """The base of a file.

    Attributes:
        site: the configuration of the site when the file was pulled, or after its last complete push.
        sent: the configuration in the file when a later push stopped halfway; None if no push stopped.
    """

    site: SiteConfig
    sent: SiteConfig | None = None


class Bases:
    """The bases of the files of one site, on this machine.

    Args:
        directory: the directory of the profile's bases.
        site_id: the id of the site.
    """

    def __init__(self, directory: Path, site_id: str) -> None:
        self._directory = directory / re.sub(r"[^\w-]", "_", site_id)

    def of(self, file: Path) -> Base | None:
        """Return the base of a file, or None if the file was neither pulled nor pushed on this machine.

        Raises:
            ConfigurationError: the base cannot be read.
        """
        place = self._place(file)
        if not place.exists():
            return None
        sent = self._sent_place(file)
        return Base(_read(place), _read(sent) if sent.exists() else None)

    def keep(self, file: Path, site: SiteConfig) -> None:
        """Store the configuration of the site as the base of a file.

        Raises:
            StoreError: the directory of the bases cannot be created.
            ConfigurationError: the base cannot be written.
        """
        self._write(self._place(file), site)
        self._sent_place(file).unlink(missing_ok=True)

    def note_sent(self, file: Path, sent: SiteConfig) -> None:
        """Store the configuration in a file whose push stopped halfway.

        Values of the site that equal values in `sent` do not count as other people's changes.

        Raises:
            StoreError: the directory of the bases cannot be created.
            ConfigurationError: the base cannot be written.
        """
        self._write(self._sent_place(file), sent)

    def printed(self, part: Part) -> Base | None:
        """Return the base of a part that a command printed, or None if no command printed it on this machine.

        Raises:
            ConfigurationError: the base cannot be read.
        """
        place = self._printed_place(part)
        return Base(_read(place)) if place.exists() else None

    def keep_printed(self, part: Part, site: SiteConfig) -> None:
        """Store a part as a command printed it, as the base of a later edit.

        Raises:
            StoreError: the directory of the bases cannot be created.
            ConfigurationError: the base cannot be written.
        """
        self._write(self._printed_place(part), site)

    def _write(self, place: Path, config: SiteConfig) -> None:
        try:
            make_private_directory(self._directory)
        except OSError as error:
            raise StoreError(f"Could not keep what was read in {self._directory}: {error.strerror}") from None
        text, _ = text_of(config.plain, place)
        write_file(place, text, PRIVATE_FILE)

    def _place(self, file: Path) -> Path:
        name = hashlib.sha256(str(file.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        return self._directory / f"{name}.yaml"

    def _printed_place(self, part: Part) -> Path:
        return self._directory / f"printed_{part}.yaml"

    def _sent_place(self, file: Path) -> Path:
        return self._place(file).with_suffix(".sent.yaml")


def _read(place: Path) -> SiteConfig:
    read = read_file(place)
    if read.problems:
        raise ConfigurationError(f"{place}: is damaged ({read.problems[0]}): delete it, and compare with `diff` first")
    return read.config


def overwritten(
    base: Base, site: SiteConfig, file: SiteConfig, differences: tuple[Difference, ...]
) -> tuple[Drift, ...]:
    """Return the fields that other people changed in a site since the base and that a push would overwrite.

    Args:
        base: the base of the file.
        site: the current configuration of the site.
        file: the configuration in the file, resolved.
        differences: the changes that the push makes to the site.
    """
    names = names_of(site.structure or ())
    sides = _Sides(
        file_fields(site, base.site),
        file_fields(site, base.sent) if base.sent else {},
        fields_of(site, lambda entry: names[entry.key]),
        file_fields(site, file),
    )
    parts = {*base.site.parts, *(base.sent.parts if base.sent else ())}
    changed = [difference for difference in differences if difference.field.part in parts]
    return tuple(drift for difference in changed for drift in sides.drifts(difference))


class _Sides(NamedTuple):
    """The fields of the base, of the configuration sent since then, of the current site, and of the file."""

    base: dict[Field, Any]
    sent: dict[Field, Any]
    site: dict[Field, Any]
    file: dict[Field, Any]

    def drifts(self, difference: Difference) -> Iterator[Drift]:
        """Yield other people's changes to the values that a push changes.

        These values are a single field, or all fields of an item that the push adds or removes.
        """
        field = difference.field
        if field.name:
            fields = [field]
        else:
            every = (*self.site, *self.base)
            fields = [other for other in dict.fromkeys(every) if (other.part, other.item) == (field.part, field.item)]
        if not field.name and difference.change == "removed" and fields:
            # the child items' own fields show their parents and the default already
            fields = [inner for inner in fields if inner.name not in (ORDER, DEFAULT, DEFAULT_SECTION)] or fields
        for changed in fields:
            before, now = self.base.get(changed), self.site.get(changed)
            if changed.name == ORDER:
                before, now = _shared_order(before, now)
            if same_value(before, now) or (changed in self.sent and same_value(self.sent[changed], now)):
                continue
            yield Drift(changed, before, now, self.file.get(changed))


def _shared_order(before: Any, now: Any) -> tuple[Any, Any]:
    """Reduce two lists to their common items, each list in its own order.

    If either value is not a list, return both unchanged.
    """
    pair: tuple[Any, Any] = (before, now)
    if not isinstance(before, list) or not isinstance(now, list):
        return pair
    first, second = cast("list[Any]", before), cast("list[Any]", now)
    return [item for item in first if item in second], [item for item in second if item in first]
