"""The only door to an object store: what is asked of a bucket, and what its answers mean in plain words.

Every object of a run is put on the condition that there is none of its name; a manifest, which alone may change, on the
condition that it is still the one that was seen.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skilleval.errors import ResultsError, WriteError
from skilleval.results.places.address import Address
from skilleval.results.places.spool import endpoint_url

_TRIES = 3
_AT_ONCE = 16
_CONNECT_S, _READ_S = 5, 60
_DIGEST = "sha256"
_TAKEN = {"PreconditionFailed", "412", "ConditionalRequestConflict", "409"}
_REFUSED = {"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "403", "401"}
_ABSENT = {"NoSuchKey", "NotFound", "404"}
_WHO = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE")
_ENVIRONMENT = (
    "credentials come from the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE …"
)


class TakenError(ResultsError):
    """There is an object of this name already, or not the one that was seen."""


class AbsentError(ResultsError):
    """There is no such object."""


class Bucket:
    """A bucket of an object store; credentials and endpoint are those of the environment."""

    def __init__(self, address: Address) -> None:
        """Connect when something is asked for.

        Raises:
            ResultsError: the extra is not installed.
        """
        self._name = address.bucket
        with _told(address):
            self._files = _filesystem(os.getpid(), endpoint_url(), *map(os.environ.get, _WHO))

    def _path(self, key: str) -> str:
        return f"{self._name}/{key}"

    def _at(self, key: str) -> Address:
        return Address(self._name, key)

    def check(self, prefix: str) -> None:
        """Check that the bucket is there and can be listed.

        Raises:
            ResultsError: it is not.
        """
        with _told(self._at(prefix)):
            self._files.call_s3("list_objects_v2", Bucket=self._name, Prefix=prefix, MaxKeys=1)

    def list(self, prefix: str) -> dict[str, str]:
        """Give the ETag of every object below a prefix by its key.

        Raises:
            ResultsError: the bucket cannot be listed.
        """
        found: dict[str, str] = {}
        below: dict[str, Any] = {"Bucket": self._name, "Prefix": f"{prefix}/" if prefix else ""}
        with _told(self._at(prefix)):
            while True:
                page = self._files.call_s3("list_objects_v2", **below)
                found |= {one["Key"]: one["ETag"] for one in page.get("Contents", ())}
                if not page.get("IsTruncated"):
                    return found
                below["ContinuationToken"] = page["NextContinuationToken"]

    def read_all(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Read many small objects at once; what is gone meanwhile is left out.

        Raises:
            ResultsError: one of them cannot be read.
        """
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            bodies = pool.map(self._body_or_none, keys)
            return {key: body for key, body in zip(keys, bodies, strict=True) if body is not None}

    def _body_or_none(self, key: str) -> bytes | None:
        try:
            return self._body(key)
        except AbsentError:
            return None

    def _body(self, key: str) -> bytes:
        with _told(self._at(key)):
            # More than one piece at once would ask for the size first.
            return bytes(self._files.cat_file(self._path(key), max_concurrency=1))

    def read(self, key: str) -> tuple[bytes, str]:
        """Read an object and its ETag.

        Raises:
            AbsentError: there is none.
            ResultsError: it cannot be read.
        """
        with _told(self._at(key)):
            etag = self._files.call_s3("head_object", Bucket=self._name, Key=key)["ETag"]
        return self._body(key), str(etag)

    def fetch(self, key: str, path: Path) -> None:
        """Copy an object into a file.

        Raises:
            AbsentError: there is none.
            ResultsError: it cannot be read.
        """
        with _told(self._at(key)):
            self._files.get_file(self._path(key), str(path))

    def create(self, key: str, path: Path, sha256: str) -> bool:
        """Put a file where nothing is yet, its SHA-256 with it; say whether it was not there already.

        Raises:
            TakenError: there is an object of this name with other content.
            WriteError: it cannot be put.
        """
        try:
            with _told(self._at(key), is_written=True):
                self._files.put_file(str(path), self._path(key), mode="create", Metadata={_DIGEST: sha256})
        except TakenError:
            if self._digest(key) != sha256:
                raise
            return False
        return True

    def _digest(self, key: str) -> str | None:
        with _told(self._at(key)):
            said: Mapping[str, str] = self._files.call_s3("head_object", Bucket=self._name, Key=key)[
                "Metadata"
            ]
            return said.get(_DIGEST)

    def replace(self, key: str, body: bytes, *, seen: str | None) -> str:
        """Put an object in the place of the one that was seen, or where nothing is yet; give its ETag.

        Raises:
            TakenError: it is not the one that was seen.
            WriteError: it cannot be put.
        """
        condition = {"IfNoneMatch": "*"} if seen is None else {"IfMatch": seen}
        return self._put(key, body, condition)

    def put(self, key: str, body: bytes) -> str:
        """Put an object that has one writer, whatever was there; give its ETag.

        Raises:
            WriteError: it cannot be put.
        """
        return self._put(key, body, {})

    def _put(self, key: str, body: bytes, condition: Mapping[str, str]) -> str:
        with _told(self._at(key), is_written=True):
            done = self._files.call_s3(
                "put_object",
                Bucket=self._name,
                Key=key,
                Body=body,
                ContentType="application/json",
                **condition,
            )
            return str(done["ETag"])


@functools.lru_cache(maxsize=4)
def _filesystem(_process: int, endpoint: str | None, *_who: str | None) -> Any:
    """Connect once a process, since connections do not survive a fork, and anew as somebody else."""
    import s3fs  # type: ignore[import-untyped, import-not-found, unused-ignore]

    config: dict[str, Any] = {
        "connect_timeout": _CONNECT_S,
        "read_timeout": _READ_S,
        "retries": {"max_attempts": _TRIES, "mode": "standard"},
    }
    if endpoint is not None:  # a server of one's own rarely has a host name a bucket
        config["s3"] = {"addressing_style": "path"}
    files = s3fs.S3FileSystem(
        endpoint_url=endpoint, config_kwargs=config, use_listings_cache=False, skip_instance_cache=True
    )
    files.retries = _TRIES
    return files


@contextmanager
def _told(address: Address, *, is_written: bool = False) -> Iterator[None]:
    """Tell in our words what went wrong; those of the library may repeat what the environment holds.

    Raises:
        TakenError: a condition was not met.
        AbsentError: there is no such object.
        ResultsError: anything else; a `WriteError` where something was to be written.
    """
    kind = WriteError if is_written else ResultsError
    try:
        from botocore import exceptions as foreign  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from fsspec.exceptions import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
            FSTimeoutError,
        )
    except ImportError:
        raise _lacking(address) from None
    try:
        yield
    except ImportError:
        raise _lacking(address) from None
    except (foreign.NoCredentialsError, foreign.PartialCredentialsError, foreign.ProfileNotFound):
        msg = f"{address} cannot be reached: no credentials are known"
        raise kind(msg, hint=_ENVIRONMENT) from None
    except (foreign.HTTPClientError, foreign.ConnectionError, TimeoutError, FSTimeoutError) as error:
        msg = f"{address} cannot be reached at {_host()}: {type(error).__name__} after {_TRIES} tries"
        raise kind(msg, hint="check the network, and AWS_ENDPOINT_URL if it is set") from None
    except (foreign.BotoCoreError, OSError, ValueError) as error:
        raise _known(error, address, kind) from None


def _lacking(address: Address) -> ResultsError:
    msg = f"{address} is on an object store, and what that needs is not installed"
    return ResultsError(msg, hint="install the extra: pip install 'skilleval[s3]'")


def _known(error: Exception, address: Address, kind: type[ResultsError]) -> Exception:
    """Find out what an answer of the store means."""
    answer = getattr(error.__cause__, "response", None) or {}
    code = str(answer.get("Error", {}).get("Code", ""))
    if isinstance(error, FileExistsError) or code in _TAKEN:
        return TakenError(f"{address} is there already, or is not what it was")
    if code == "NoSuchBucket":
        return kind(f"{address}: there is no bucket {address.bucket}", hint="make it, or name another one")
    if isinstance(error, PermissionError) or code in _REFUSED:
        return kind(f"{address}: the object store refuses access ({code or 'denied'})", hint=_ENVIRONMENT)
    if isinstance(error, FileNotFoundError) or code in _ABSENT:
        return AbsentError(f"{address} is not there")
    said = code or (error.strerror if isinstance(error, OSError) and not answer else None)
    return kind(f"{address}: the object store answered {said or type(error).__name__}")


def _host() -> str:
    from urllib.parse import urlsplit

    url = endpoint_url()
    return "its endpoint" if url is None else urlsplit(url).netloc.rpartition("@")[2] or "its endpoint"
