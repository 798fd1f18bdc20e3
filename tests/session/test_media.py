"""Images and documents, by position."""

import base64
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.session.api_messages import Medium, MediumKind, build_media
from recollect.session.messages import build_messages
from recollect.session.session_records import Log
from tests.session.recordings import make_log, read_scenario

PICTURE = {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def media_of(log: Log) -> tuple[Medium, ...]:
    """The media of a session."""
    return build_media(build_messages(log.chain, log.superseded, is_subagent=False))


def media_in(*blocks: Mapping[str, object]) -> tuple[Medium, ...]:
    """The media of a user record `a` with these blocks."""
    message = {"role": "user", "content": blocks}
    return media_of(make_log({"type": "user", "uuid": "a", "message": message}))


def test_images_and_documents_of_a_prompt() -> None:
    """Media of a prompt are found by their block, wherever the bytes are stored."""
    assert media_in(
        {"type": "text", "text": "look"},
        {"type": "image", "source": PICTURE},
        {"type": "image", "source": {"type": "url", "url": "https://e/a.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        {
            "type": "document",
            "title": "Notes",
            "source": {"type": "text", "media_type": "text/plain", "data": "zwölf"},
        },
        {"type": "document"},
    ) == (
        Medium(message_id="a", path=(1,), kind=MediumKind.IMAGE, media_type="image/png", size=3),
        Medium(message_id="a", path=(2,), kind=MediumKind.IMAGE, url="https://e/a.png"),
        Medium(message_id="a", path=(3,), kind=MediumKind.IMAGE, file_id="f1"),
        Medium(
            message_id="a",
            path=(4,),
            kind=MediumKind.DOCUMENT,
            media_type="text/plain",
            size=6,
            title="Notes",
        ),
        Medium(message_id="a", path=(5,), kind=MediumKind.DOCUMENT),
    )


def test_media_inside_a_tool_result() -> None:
    """Media of a tool result are found by the result, their position in it, and the call."""
    parts = [{"type": "text", "text": "a picture"}, {"type": "image", "source": PICTURE}]
    assert media_in({"type": "tool_result", "tool_use_id": "t1", "content": parts}) == (
        Medium(
            message_id="a",
            path=(0, 1),
            kind=MediumKind.IMAGE,
            media_type="image/png",
            size=3,
            tool_use_id="t1",
        ),
    )


def test_media_of_a_queued_prompt() -> None:
    """A picture that waited with its prompt is a medium too."""
    queued = {"type": "queued_command", "prompt": [{"type": "image", "source": PICTURE}]}
    log = make_log({"type": "attachment", "uuid": "q", "attachment": queued})
    assert media_of(log) == (
        Medium(message_id="q", path=(0,), kind=MediumKind.IMAGE, media_type="image/png", size=3),
    )


@given(st.binary())
def test_the_size_is_that_of_the_bytes(content: bytes) -> None:
    """The length of base64 text gives the number of bytes, without decoding it."""
    source = {"type": "base64", "data": base64.b64encode(content).decode()}
    assert [medium.size for medium in media_in({"type": "image", "source": source})] == [
        len(content)
    ]


def shapes_of(log: Log) -> list[tuple[str, str | None, int | None, int]]:
    """Kind, size and depth of the media of a session."""
    return [
        (medium.kind.value, medium.media_type, medium.size, len(medium.path))
        for medium in media_of(log)
    ]


@pytest.mark.parametrize("version", ["1.0.128", "2.0.77", "2.1.112", "2.1.325"])
def test_image_scenario(shared: Path, version: str) -> None:
    """An image that was read is in the result of the call."""
    log = read_scenario(shared, version, "image")
    assert shapes_of(log) == [("image", "image/png", 165, 2)]


@pytest.mark.parametrize(("version", "depth"), [("2.0.77", 1), ("2.1.112", 1), ("2.1.325", 2)])
def test_pdf_scenario(shared: Path, version: str, depth: int) -> None:
    """A PDF is in a record of its own, or in new clients in the result of the call."""
    log = read_scenario(shared, version, "pdf")
    assert shapes_of(log) == [("document", "application/pdf", 452, depth)]
