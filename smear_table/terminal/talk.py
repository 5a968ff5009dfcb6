"""Two streams of text: lines out, words in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO


class EndedError(Exception):
    """The input has ended."""


class Talk:
    """What plain mode says and hears."""

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self._source, self._out = source, out

    def say(self, text: str) -> None:
        """One line; what the other end's encoding lacks becomes a question mark."""
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        self._out.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        self._out.flush()

    def lines(self, texts: Iterable[str]) -> None:
        """Several lines."""
        for text in texts:
            self.say(text)

    def hear(self) -> list[str]:
        """The words of the next line; EndedError at the end of the input."""
        line = self._source.readline()
        if not line:
            raise EndedError
        return line.split()

    def choose(self, question: str, choices: Sequence[str], usual: int = 0) -> int:
        """Ask for one of numbered choices; Enter takes the usual one."""
        self.say(question)
        for number, text in enumerate(choices, 1):
            self.say(f"  {number}  {text}{' (Enter)' if number - 1 == usual else ''}")
        while True:
            words = self.hear()
            if not words:
                return usual
            if words[0].isdecimal() and 1 <= int(words[0]) <= len(choices):
                return int(words[0]) - 1
            self.say(f"Type a number from 1 to {len(choices)}.")

    def ask(self, question: str) -> str:
        """A line of text."""
        self.say(question)
        return " ".join(self.hear())
