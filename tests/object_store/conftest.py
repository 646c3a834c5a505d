"""A real object store on this machine, and machines that know it by their environment alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

KEY, SECRET = "AKIDOFATEST", "a-secret-that-nobody-may-write-down"
_DENIED = b"<Error><Code>AccessDenied</Code><Message>not now</Message></Error>"


class Gate:
    """Stands before the server: it counts what is put, and can refuse or hold it from some number on."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self._app = app
        self.requests: list[tuple[str, str]] = []
        self.refuses_after: int | None = None
        self.holds_after: int | None = None
        self.is_holding = threading.Event()

    def __call__(self, environ: Mapping[str, Any], start: Callable[..., Any]) -> Any:
        """Answer a request, let it through, or let it wait until its sender is gone."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if method == "PUT":
            n_put = len(self.puts())
            if self.holds_after is not None and n_put >= self.holds_after:
                self.is_holding.set()
            if self.is_refused(n_put):
                start("403 Forbidden", [("Content-Type", "application/xml")])
                return [_DENIED]
        self.requests.append((method, path))
        return self._app(environ, start)

    def is_refused(self, n_put: int) -> bool:
        """Say whether a further object is refused; one that is held is, so that nothing is put after a kill."""
        if self.holds_after is not None and n_put >= self.holds_after:
            threading.Event().wait(2)
            return True
        return self.refuses_after is not None and n_put >= self.refuses_after

    def puts(self) -> list[str]:
        """Give the paths of all objects that were put."""
        return [path for method, path in self.requests if method == "PUT"]

    def reset(self) -> None:
        """Let everything through, and forget what was counted."""
        self.requests = []
        self.refuses_after = self.holds_after = None
        self.is_holding.clear()


class ObjectStore:
    """The server, a bucket of it, and a way to look into it that is not ours."""

    def __init__(self, url: str, gate: Gate) -> None:
        import boto3  # type: ignore[import-untyped, import-not-found, unused-ignore]

        self.url, self.gate = url, gate
        self.client = boto3.client(
            "s3",
            endpoint_url=url,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )

    def objects(self, bucket: str) -> dict[str, bytes]:
        """Give every object of a bucket."""
        found = self.client.list_objects_v2(Bucket=bucket).get("Contents", ())
        return {
            one["Key"]: self.client.get_object(Bucket=bucket, Key=one["Key"])["Body"].read() for one in found
        }


@pytest.fixture(scope="session")
def object_store() -> Iterator[ObjectStore]:
    """Start the server."""
    from moto.server import (  # type: ignore[import-untyped, import-not-found, attr-defined, unused-ignore]
        DomainDispatcherApplication,
        create_backend_app,
    )
    from werkzeug.serving import make_server

    gate = Gate(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, gate, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield ObjectStore(f"http://127.0.0.1:{server.port}", gate)
    server.shutdown()
    thread.join()


@contextmanager
def environment(**changes: str | None) -> Iterator[None]:
    """Change the environment for a while: it is where credentials and endpoint come from."""
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


class Machines:
    """Machines that share nothing but the object store; `place` is where their results go."""

    def __init__(self, folder: Path, store: ObjectStore, bucket: str) -> None:
        self.folder, self.store, self.bucket = folder, store, bucket
        self.place = f"s3://{bucket}/study"

    def on(self, name: str) -> None:
        """Go on working on another machine."""
        os.environ["XDG_CACHE_HOME"] = str(self.folder / name)

    @property
    def objects(self) -> dict[str, bytes]:
        """Give what the object store holds."""
        return self.store.objects(self.bucket)


@pytest.fixture
def machines(tmp_path: Path, object_store: ObjectStore, request: pytest.FixtureRequest) -> Iterator[Machines]:
    """Give machines with a bucket of their own; the first one is `a`."""
    bucket = f"bucket-{abs(hash(request.node.nodeid))}"
    object_store.client.create_bucket(Bucket=bucket)
    object_store.gate.reset()
    with environment(
        AWS_ACCESS_KEY_ID=KEY,
        AWS_SECRET_ACCESS_KEY=SECRET,
        AWS_ENDPOINT_URL=object_store.url,
        AWS_DEFAULT_REGION="us-east-1",
        AWS_EC2_METADATA_DISABLED="true",
        XDG_CACHE_HOME=str(tmp_path / "a"),
    ):
        yield Machines(tmp_path, object_store, bucket)
    object_store.gate.reset()
