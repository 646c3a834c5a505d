"""Collects what a reader did on its own (an alias read, a default filled in) and says each thing once."""

from __future__ import annotations


class Notices:
    """Notices about one file, grouped: fifty tasks with the same alias make one line."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._keys: dict[str, list[str]] = {}
        self._routine: set[str] = set()

    def alias(self, key: str, written: str, meaning: str) -> None:
        """Say that a word was read as another one."""
        self._add_routine(key, f"alias: {written} is read as {meaning}")

    def filled_in(self, key: str, value: str) -> None:
        """Say that something left out was given a value."""
        self._add_routine(key, f"filled in: {value}")

    def add(self, key: str, message: str) -> None:
        """Say something about a key."""
        self._keys.setdefault(message, []).append(key)

    def _add_routine(self, key: str, message: str) -> None:
        self._routine.add(message)
        self.add(key, message)

    @property
    def texts(self) -> tuple[str, ...]:
        """One line a message, in the order they came up."""
        return tuple(self._line(message, keys) for message, keys in self._keys.items())

    @property
    def remarks(self) -> tuple[str, ...]:
        """The lines that matter without being asked for: all but aliases and what was filled in."""
        said = self._keys.items()
        return tuple(self._line(message, keys) for message, keys in said if message not in self._routine)

    def _line(self, message: str, keys: list[str]) -> str:
        more = f" (and {len(keys) - 1} more)" if len(keys) > 1 else ""
        return f"{self._where}: {keys[0]}{more}: {message}"
