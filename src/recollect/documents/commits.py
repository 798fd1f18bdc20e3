"""Commits of a session, the prompts behind a commit, and who wrote a tree."""

from msgspec import Struct


class CommitEntry(Struct, frozen=True, kw_only=True):
    """A commit that belongs to a session."""

    commit: str
    how: str
    """`printed`, `note`, `trailer`, `content` or `time`, the surest first; the last is a hint."""
    time: str | None
    """When it was committed; null if the repository does not have it."""
    subject: str | None
    turns: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    """Files in it that equal a version of the session."""


class CommitsDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect commits --json`."""

    schema: str
    session: str
    repository: str
    commits: tuple[CommitEntry, ...]


class PromptLines(Struct, frozen=True, kw_only=True):
    """How many lines a prompt wrote."""

    session: str
    turn: int | None
    prompt: str
    model: str | None
    time: str | None
    lines: int
    files: tuple[str, ...] = ()


class LinkedSession(Struct, frozen=True, kw_only=True):
    """A session that made a commit, according to its output or to a note."""

    session: str
    how: str
    """`printed`, `note` or `trailer`."""
    turn: int | None = None


class WhyDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect why --json`."""

    schema: str
    commit: str
    subject: str
    added: int
    """Lines that the commit added."""
    other: int
    """Of these, lines that Claude Code did not write."""
    unknown: int
    prompts: tuple[PromptLines, ...]
    sessions: tuple[LinkedSession, ...] = ()


class TreeDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect blame --stat DIR --json`."""

    schema: str
    path: str
    files: int
    lines: int
    other: int
    unknown: int
    written: int
    """Lines that Claude Code has ever written there."""
    survived: int
    """Lines of these that are still there."""
    prompts: tuple[PromptLines, ...]
