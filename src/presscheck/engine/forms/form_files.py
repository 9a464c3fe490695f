"""Files whose content fills in a form, such as the metadata of a SAML provider; which operations have one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from presscheck.errors import InvalidArgument

if TYPE_CHECKING:
    from presscheck.api.operation import Operation


@dataclass(frozen=True)
class FormFile:
    """A kind of file that fills in a form.

    Attributes:
        name: its name in errors, and that of the option of the command.
        title: what it is, in a few words.
        largest: its most bytes.
        parse: returns the texts of the fields in it, by field; raises `InvalidArgument`.
    """

    name: str
    title: str
    largest: int
    parse: Callable[[bytes], Mapping[str, str]]

    def read(self, stream: BinaryIO) -> Mapping[str, str]:
        """The texts of the fields in a file.

        Raises:
            InvalidArgument: it is too large, or its content is invalid.
        """
        content = stream.read(self.largest + 1)
        if len(content) > self.largest:
            raise InvalidArgument(self.name, f"is too large: at most {self.largest >> 20} MB")
        return self.parse(content)

    def read_path(self, path: str) -> Mapping[str, str]:
        """The texts of the fields in the file at a path, which may begin with `~`.

        Raises:
            InvalidArgument: it cannot be read, it is too large, or its content is invalid.
        """
        try:
            place = Path(path).expanduser()
            if place.exists() and not place.is_file():  # reading a pipe could wait for ever
                raise InvalidArgument(self.name, "is not a file")
            with place.open("rb") as stream:
                return self.read(stream)
        except (OSError, ValueError, RuntimeError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise InvalidArgument(self.name, f"could not be read: {reason or error}") from None


def _saml_metadata(content: bytes) -> Mapping[str, str]:
    from presscheck.engine.saml import read_metadata  # 36 ms, only for a metadata file

    return read_metadata(content)


SAML_METADATA = FormFile("metadata", "SAML metadata of the provider, XML", 1 << 20, _saml_metadata)


def _script(content: bytes) -> Mapping[str, str]:
    try:
        return {"script": content.decode("utf-8")}
    except UnicodeDecodeError:
        raise InvalidArgument("script", "is not text in UTF-8") from None


SCRIPT = FormFile("script", "the built script of the integration, JavaScript", 1 << 20, _script)
"""Only in forms: commands take the script as an argument, or from a file."""
_FILES = {"CreateSAMLProvider": SAML_METADATA, "UpdateSAMLProvider": SAML_METADATA}


def file_of(operation: type[Operation[Any]]) -> FormFile | None:
    """The kind of file that fills in the form of an operation; None for most."""
    return _FILES.get(operation.__name__)
