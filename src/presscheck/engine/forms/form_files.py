"""Files that fill in a form, such as the metadata of a SAML provider, and the operations that accept them."""

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
        name: the name in errors and of the command's option.
        title: a short description.
        largest: the maximum size in bytes.
        parse: returns the field values in the content; raises `InvalidArgument`.
        read_at: reads the field values from a path instead, for a file that refers to other files; raises
            `InvalidArgument`.
    """

    name: str
    title: str
    largest: int
    parse: Callable[[bytes], Mapping[str, Any]]
    read_at: Callable[[Path], Mapping[str, Any]] | None = None

    def read(self, stream: BinaryIO) -> Mapping[str, Any]:
        """Read the field values from a file.

        Raises:
            InvalidArgument: the file is too large, or its content is invalid.
        """
        content = stream.read(self.largest + 1)
        if len(content) > self.largest:
            raise InvalidArgument(self.name, f"is too large: at most {self.largest >> 20} MB")
        return self.parse(content)

    def read_path(self, path: str) -> Mapping[str, Any]:
        """Read the field values from the file at a path, which may begin with `~`.

        Raises:
            InvalidArgument: the file cannot be read or is too large, or its content is invalid.
        """
        try:
            place = Path(path).expanduser()
            if self.read_at:
                return self.read_at(place)
            if place.exists() and not place.is_file():  # reading a pipe could block forever
                raise InvalidArgument(self.name, "is not a file")
            with place.open("rb") as stream:
                return self.read(stream)
        except (OSError, ValueError, RuntimeError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise InvalidArgument(self.name, f"could not be read: {reason or error}") from None


def _saml_metadata(content: bytes) -> Mapping[str, str]:
    from presscheck.engine.saml import read_metadata  # 40 ms, only for a metadata file

    return read_metadata(content)


SAML_METADATA = FormFile("metadata", "SAML metadata of the provider, XML", 1 << 20, _saml_metadata)


def _script(content: bytes) -> Mapping[str, str]:
    try:
        return {"script": content.decode("utf-8")}
    except UnicodeDecodeError:
        raise InvalidArgument("script", "is not text in UTF-8") from None


_SCRIPT = FormFile("script", "the built script of an integration", 1 << 20, _script)


def _manifest(path: Path) -> Mapping[str, Any]:
    """Read the field values from a manifest, or only the script from a script file."""
    from presscheck.engine.integrations.manifest import read_manifest  # 6 ms, only for a manifest

    if path.suffix in (".js", ".mjs"):
        return _SCRIPT.read_path(str(path))
    manifest = read_manifest(path)
    given = {"integration_name": manifest.name, "organization": manifest.organization}
    return {**{name: value for name, value in given.items() if value}, **manifest.values}


MANIFEST = FormFile("manifest", "gitbook-manifest.yaml, its folder or a script", 1 << 20, _script, _manifest)
_FILES = {"CreateSAMLProvider": SAML_METADATA, "UpdateSAMLProvider": SAML_METADATA, "PublishIntegration": MANIFEST}


def file_of(operation: type[Operation[Any]]) -> FormFile | None:
    """Return the kind of file that fills in an operation's form, or None if there is none."""
    return _FILES.get(operation.__name__)
