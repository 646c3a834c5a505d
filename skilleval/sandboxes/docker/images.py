"""Which image a program runs in: the one that is named, or one that is built from the skill's own Dockerfile."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from skilleval.errors import AdapterError, Problem
from skilleval.sandboxes.docker.dockerfile import fetched
from skilleval.sandboxes.docker.engine import Engine, EngineError, Image

_DOCKERFILE = "Dockerfile"
_REPOSITORY = "skilleval-skill"
_DIGITS = 32
_SHIPPED = "skilleval-base:py311"
_BASE_FIX = "scripts/docker-engine.sh builds it; or name another with sandbox.image=NAME"


class Images:
    """The images of a run. What a skill brings is built once, and tagged with the digest of its files."""

    def __init__(self, engine: Engine, reference: str, *, builds: bool) -> None:
        self._engine = engine
        self._builds = builds
        self._built: dict[Path, Image] = {}
        self._building = threading.Lock()
        found = engine.image(reference)
        if found is None:
            fix = _BASE_FIX if reference == _SHIPPED else f"get it with: docker pull {reference}"
            problem = Problem(
                where="config",
                key="sandbox.image",
                expected="an image that the engine has",
                found=reference,
                hint=fix,
            )
            raise AdapterError("sandbox=docker has no image to run skills in", problems=(problem,))
        self.named = found

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """Give the digests of the content of all images that were used, by name."""
        return {one.reference: one.layers for one in (self.named, *self._built.values())}

    def of(self, folder: Path) -> Image:
        """Give the image for programs of a folder, and build it where that is still to be done.

        Raises:
            AdapterError: its Dockerfile cannot be built.
        """
        if not self._is_own(folder):
            return self.named
        with self._building:
            if folder not in self._built:
                self._built[folder] = self._of_dockerfile(folder)
        return self._built[folder]

    def is_wanting(self, folder: Path) -> bool:
        """Say whether programs of a folder need an image that is still to be built; one that is there is taken.

        Raises:
            AdapterError: its Dockerfile would have the engine fetch something.
        """
        if not self._is_own(folder) or folder in self._built:
            return False
        try:
            found = self._engine.image(_tag(folder))
        except EngineError as error:
            raise _unbuildable(folder, str(error)) from None
        if found is None:
            self._check(folder)
            return True
        self._built[folder] = found
        return False

    def _is_own(self, folder: Path) -> bool:
        return self._builds and (folder / _DOCKERFILE).is_file()

    def _of_dockerfile(self, folder: Path) -> Image:
        tag = _tag(folder)
        try:
            if self._engine.image(tag) is None:
                self._check(folder)
                self._engine.build(folder, tag)
            image = self._engine.image(tag)
        except EngineError as error:
            raise _unbuildable(folder, str(error)) from None
        if image is None:
            raise _unbuildable(folder, "the engine built no image")
        return image

    def _check(self, folder: Path) -> None:
        """See to it that the engine fetches nothing: it would do so over its own network, for a stranger.

        Raises:
            AdapterError: a line of the Dockerfile asks for that, or the file is none.
        """
        file = folder / _DOCKERFILE
        if file.is_symlink():  # the engine follows it elsewhere than we do
            raise _unbuildable(folder, "a link")
        said = fetched(file.read_text(encoding="utf-8", errors="replace"), self._has)
        if said is not None:
            raise _unbuildable(folder, said)

    def _has(self, reference: str) -> bool:
        try:
            return self._engine.image(reference) is not None
        except EngineError:  # what names no image, such as a variable
            return False


def _tag(folder: Path) -> str:
    return f"{_REPOSITORY}:{context_digest(folder)[:_DIGITS]}"


def context_digest(folder: Path) -> str:
    """Give the SHA-256 of all that an image may be built from: names, contents and who may run what."""
    digest = hashlib.sha256()
    for path in _files(folder):
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        mode = path.lstat().st_mode
        for part in (path.relative_to(folder).as_posix().encode(), f"{mode:o}".encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    found = (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return iter(sorted(path for path in found if "__pycache__" not in path.parts))


def _unbuildable(folder: Path, said: str) -> AdapterError:
    problem = Problem(
        where=str(folder / _DOCKERFILE),
        expected="an image that can be built without network from images that are there",
        found=said,
    )
    hint = "mend it, or use sandbox.build=false"
    return AdapterError("the image of a skill cannot be built", problems=(problem,), hint=hint)
