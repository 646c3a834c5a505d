"""Addresses on an object store: `s3://bucket/prefix`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from skilleval.errors import Problem, ResultsError

# A `pathlib.Path` keeps one of the two slashes, and options and settings reach us as such.
_S3 = re.compile(r"s3:/+(?P<bucket>[^/]*)/*(?P<key>.*)", re.DOTALL)
_OTHER = re.compile(r"(?:s3[an]|gs|gcs|az|abfss?|wasbs?|hdfs|https?|ftp)://?[^/]")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")
_EXPECTED = "s3://BUCKET or s3://BUCKET/PREFIX"


@dataclass(frozen=True, slots=True)
class Address:
    """A place on an object store; `key` has no slash at its ends and is empty for a whole bucket."""

    bucket: str
    key: str = ""

    @classmethod
    def read(cls, place: str | Path) -> Self | None:
        """Read an address; null where the text is the path of an ordinary folder.

        Raises:
            ResultsError: it is an address, but none that can be used. What it says is not repeated: it may hold a key.
        """
        text = str(place)
        if _OTHER.match(text):
            raise _unusable(f"a {text.partition(':')[0]}: address")
        match = _S3.fullmatch(text)
        if match is None:
            return None
        if not _BUCKET.fullmatch(match["bucket"]):
            raise _unusable("something that is no name of a bucket")
        parts = [part for part in match["key"].split("/") if part]
        if any(part in {".", ".."} for part in parts) or "\0" in match["key"]:
            raise _unusable("a prefix with . or ..")
        return cls(match["bucket"], "/".join(parts))

    def below(self, name: str) -> Address:
        """Give the address of something below this one."""
        return Address(self.bucket, f"{self.key}/{name}" if self.key else name)

    def __str__(self) -> str:
        """Give the address as it is written."""
        return f"s3://{self.bucket}/{self.key}" if self.key else f"s3://{self.bucket}"


def _unusable(found: str) -> ResultsError:
    problem = Problem(where="place of results", expected=f"a folder, or {_EXPECTED}", found=found)
    hint = "credentials and endpoint come from the environment (AWS_…), never from an address"
    return ResultsError("results cannot be stored there", problems=(problem,), hint=hint)
