"""Replies copied from another session are distinguished from a session's own."""

from msgspec.structs import replace

from recollect.records.envelope import Record, Span
from recollect.records.state import QueueOperation
from recollect.records.token_usage import Tokens
from recollect.session.session import Session
from tests.session.chains import Json, make, reply, user

COPIED = {"id": "m1", "usage": {"input_tokens": 10, "output_tokens": 5}}
OWN = {"id": "m2", "usage": {"input_tokens": 3, "output_tokens": 1}}


def at(minute: int) -> str:
    """Return a time as in records."""
    return f"2026-11-15T12:{minute:02}:00.000Z"


def answered(message: Json, minute: int, **fields: object) -> list[Record]:
    """Return a prompt and its reply."""
    name = str(message["id"])
    return [
        user(f"u{name}", "go", timestamp=at(minute), **fields),  # type: ignore[arg-type]
        reply(f"r{name}", "yes", message=message, timestamp=at(minute), **fields),  # type: ignore[arg-type]
    ]


def tokens_of(*records: Record) -> tuple[Tokens, Tokens]:
    """Return own and copied tokens of a file with these records."""
    placed = [replace(each, span=Span("f", place, 1)) for place, each in enumerate(records)]
    metrics = Session(placed).metrics
    return metrics.tokens, metrics.copied_tokens


APART = (Tokens(input=3, output=1), Tokens(input=10, output=5))


def test_a_copy_that_says_so() -> None:
    """Some clients record the session that a record was copied from."""
    origin = {"forkedFrom": {"sessionId": "other", "messageUuid": "x"}}
    assert tokens_of(*answered(COPIED, 1, **origin), *answered(OWN, 2)) == APART


def test_a_copy_is_older_than_the_file() -> None:
    """A fork starts with a time of its own, and copied lines keep theirs."""
    line = {"type": "queue-operation", "operation": "enqueue", "timestamp": at(9)}
    began = make(QueueOperation, line)
    assert tokens_of(began, *answered(COPIED, 1), *answered(OWN, 10)) == APART


def test_a_copy_that_lost_its_request() -> None:
    """Clients 1.0.x copied without the request, and gave the copy a new time."""
    own = answered(OWN, 2, requestId="req_1")
    assert tokens_of(*answered(COPIED, 1), *own) == APART


def test_all_is_its_own_where_nothing_says_otherwise() -> None:
    """Without a sign of copying, all replies are the session's own."""
    assert tokens_of(*answered(COPIED, 1), *answered(OWN, 2)) == (
        Tokens(input=13, output=6),
        Tokens(),
    )
