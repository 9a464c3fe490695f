"""Files in an S3-compatible bucket.

Credentials, region and endpoint are configured as for other AWS tools: by the variables ``AWS_ACCESS_KEY_ID``,
``AWS_SECRET_ACCESS_KEY``, ``AWS_PROFILE``, ``AWS_REGION`` and ``AWS_ENDPOINT_URL_S3``, the files in ``~/.aws``, or the
role of the machine.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, cast

import boto3.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from typing_extensions import override
from urllib3.exceptions import HTTPError

from presscheck.errors import ConfigurationError
from presscheck.service.blobs.store import (
    CHUNK,
    MOST_THREADS,
    Blob,
    BlobStore,
    FilesUnavailable,
    id_of,
    is_content_id,
)

CONNECT_TIMEOUT = 3
"""Timeout for connecting to the endpoint, in seconds."""
READ_TIMEOUT = 10
"""Timeout for the next bytes of a response, in seconds."""
ATTEMPTS = 3
"""Maximum number of attempts of a request, with exponential backoff; every request can be repeated safely."""

_MISSING = frozenset(("NoSuchKey", "404"))
_REASONS = {
    "NoSuchBucket": "the bucket does not exist",
    "AccessDenied": "access denied",
    "AllAccessDisabled": "access denied",
    "403": "access denied",
    "InvalidAccessKeyId": "the access key is not valid",
    "SignatureDoesNotMatch": "the secret key is not valid",
    "ExpiredToken": "the credentials have expired",
    "InvalidToken": "the session token is not valid",
    "InvalidBucketName": "the name of the bucket is not valid",
}
"""Explanations of error codes for problems that only the operator can solve."""
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class Body(Protocol):
    """The body of a response."""

    def iter_chunks(self, chunk_size: int) -> Iterator[bytes]:
        """Yield the bytes in parts of at most `chunk_size`."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class S3Client(Protocol):
    """The methods of boto3's client that this module uses. Arguments and responses are documented by boto3."""

    def put_object(self, **arguments: Any) -> Mapping[str, Any]:
        """Store an object."""
        ...

    def get_object(self, **arguments: Any) -> Mapping[str, Any]:
        """Open an object."""
        ...

    def list_objects_v2(self, **arguments: Any) -> Mapping[str, Any]:
        """List up to a thousand objects."""
        ...

    def delete_object(self, **arguments: Any) -> Mapping[str, Any]:
        """Delete an object."""
        ...


class S3BlobStore(BlobStore):
    """A thread-safe store of files in a bucket, whose keys have a common prefix.

    Args:
        bucket: the name of the bucket.
        prefix: the common prefix of the keys, without a slash at its end; may be empty.

    Raises:
        ConfigurationError: the AWS settings of this machine are invalid.
    """

    is_remote = True

    def __init__(self, bucket: str, prefix: str) -> None:
        super().__init__()
        self.location = f"s3://{bucket}/{prefix}".rstrip("/")
        self._bucket, self._prefix = bucket, f"{prefix}/" if prefix else ""
        self._client = _client(self.location)

    @override
    def put(self, content: bytes) -> str:
        """Store bytes and return their id. The bucket verifies their hash, so it never stores an incomplete upload."""
        content_id = id_of(content)
        with self._translated():
            self._client.put_object(
                Bucket=self._bucket, Key=self._key(content_id), Body=content, ContentType="application/octet-stream"
            )
        return content_id

    @override
    def open(self, content_id: str, byte_range: str | None = None) -> Blob | None:
        if not is_content_id(content_id):
            return None
        part = {"Range": byte_range} if byte_range else {}
        try:
            with self._translated():
                answer = self._client.get_object(Bucket=self._bucket, Key=self._key(content_id), **part)
        except _Missing:
            return None
        body: Body = answer["Body"]
        span = _CONTENT_RANGE.fullmatch(str(answer.get("ContentRange") or ""))
        return Blob(
            int(answer["ContentLength"]),
            self._chunks(body),
            body.close,
            (int(span[1]), int(span[2]), int(span[3])) if span else None,
        )

    @override
    def ids(self) -> Iterator[str]:
        """Yield the ids of all files in sorted order; other objects below the prefix are ignored."""
        following: dict[str, str] = {}
        while True:
            with self._translated():
                answer = self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, **following)
            for item in answer.get("Contents") or ():
                name = str(item["Key"]).removeprefix(self._prefix)
                if is_content_id(name):
                    yield name
            if not answer.get("IsTruncated"):
                return
            following = {"ContinuationToken": answer["NextContinuationToken"]}

    @override
    def remove(self, content_id: str) -> None:
        if is_content_id(content_id):
            with self._translated():
                self._client.delete_object(Bucket=self._bucket, Key=self._key(content_id))

    @override
    def check(self) -> None:
        """List one object; this fails if credentials, bucket or endpoint are wrong."""
        with self._translated():
            self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)

    def _key(self, content_id: str) -> str:
        return f"{self._prefix}{content_id}"

    def _chunks(self, body: Body) -> Iterator[bytes]:
        with self._translated():
            yield from body.iter_chunks(CHUNK)

    @contextmanager
    def _translated(self) -> Generator[None, None, None]:
        """Convert errors of boto3 to `FilesUnavailable`, or to `ValueError` for an invalid range.

        Messages of boto3 are not passed on, because they may quote a response.
        """
        try:
            yield
        except ClientError as error:
            answer = cast("dict[str, Any]", error.response)
            code = str(answer.get("Error", {}).get("Code", ""))
            if code in _MISSING:
                raise _Missing(f"{self.location}: not found", is_lasting=True) from None
            if code == "InvalidRange":
                raise ValueError("the file has no byte in this range") from None
            reason = _REASONS.get(code, f"the bucket responded with {code or 'an error'}")
            raise FilesUnavailable(f"{self.location}: {reason}", is_lasting=code in _REASONS) from None
        except NoCredentialsError:
            raise FilesUnavailable(f"{self.location}: no AWS credentials found", is_lasting=True) from None
        except (BotoCoreError, HTTPError, OSError) as error:
            raise FilesUnavailable(f"{self.location}: no response ({type(error).__name__})") from None


class _Missing(FilesUnavailable):
    """The object does not exist."""


def _client(location: str) -> S3Client:
    settings = Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
        max_pool_connections=2 * MOST_THREADS,
        s3={"payload_signing_enabled": True},  # the bucket compares the body with the signed hash
        # other checksums are specific to AWS; some compatible stores reject them
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    try:
        return cast("S3Client", boto3.session.Session().client("s3", config=settings))
    except (BotoCoreError, ValueError) as error:
        reason = str(error).partition("\n")[0] if isinstance(error, BotoCoreError) else "invalid endpoint"
        raise ConfigurationError(f"{location}: the AWS settings are invalid: {reason}") from None
