"""Each kind of error has its exit code, which scripts rely on."""

import pytest

from presscheck import errors
from presscheck.cli.exit_codes import EXIT_CODES, exit_code

CODES = {
    "InvalidArgument": 2,
    "ConfigurationError": 2,
    "NoToken": 4,
    "MissingExtra": 2,
    "StoreError": 1,
    "NotNow": 3,
    "ReadOnly": 2,
    "ChecksFailed": 6,
    "ChangedSince": 5,
    "RequestError": 1,
    "NetworkError": 3,
    "Ambiguous": 3,
    "MalformedAnswer": 1,
    "IncompleteList": 1,
    "ServiceError": 1,
    "NotSignedIn": 4,
    "Forbidden": 1,
    "NotFound": 1,
    "NotSupported": 7,
    "Conflict": 5,
    "PreconditionFailed": 5,
    "TooManyRequests": 1,
    "Refused": 1,
    "ServiceFailed": 1,
}


def kinds(parent: type[errors.PresscheckError]) -> set[type[errors.PresscheckError]]:
    """Return all error classes below a class."""
    direct = {kind for kind in parent.__subclasses__() if kind.__module__ == errors.__name__}
    return direct.union(*(kinds(kind) for kind in direct))


@pytest.mark.parametrize("kind", sorted(kinds(errors.PresscheckError), key=lambda kind: kind.__name__))
def test_each_kind_of_error_has_its_exit_code(kind: type[errors.PresscheckError]) -> None:
    assert exit_code(kind.__new__(kind)) == CODES[kind.__name__]
    assert CODES[kind.__name__] in EXIT_CODES
