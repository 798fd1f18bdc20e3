"""Messages that are visible by default."""

import pytest

from recollect.documents.kinds import InputKind
from recollect.records.blocks import (
    ContentBlock,
    RedactedThinking,
    Text,
    Thinking,
    ToolUse,
    UnknownBlock,
)
from recollect.session.messages import is_empty_block, is_visible_prompt, is_visible_reply
from recollect.session.prompts import Prompt

FILLER = (Text(text="No response requested."),)
WORDS = (Text(text="hello"),)


def test_only_what_was_injected_is_hidden() -> None:
    """Only injected text and warm-ups are hidden."""
    hidden = {kind for kind in InputKind if not is_visible_prompt(Prompt(kind, "words"))}
    assert hidden == {InputKind.INJECTED, InputKind.WARMUP}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (Text(text=" \n"), True),
        (Text(), True),
        (Text(content="words"), False),
        (Thinking(signature="abc"), True),
        (Thinking(thinking="hm"), False),
        (RedactedThinking(data="abc"), True),
        (ToolUse(), False),
        (UnknownBlock(), False),
    ],
)
def test_a_block_is_empty_if_there_is_nothing_to_read(block: ContentBlock, expected: bool) -> None:
    """Blank text and thinking are empty; calls and unknown blocks never are."""
    assert is_empty_block(block) is expected


@pytest.mark.parametrize(
    ("content", "is_failure", "is_made_up", "expected"),
    [
        (WORDS, False, False, True),
        ((Thinking(), Text(text="hello")), False, False, True),
        ((), False, False, False),
        ((Thinking(signature="abc"), Text(text="")), False, False, False),
        (FILLER, False, True, False),
        (FILLER, False, False, True),
        (WORDS, False, True, True),
        ((), True, True, True),
    ],
)
def test_a_reply_is_seen_if_it_says_or_does_something(
    content: tuple[ContentBlock, ...], is_failure: bool, is_made_up: bool, expected: bool
) -> None:
    """Empty replies and the client's fillers are hidden, failures never."""
    seen = is_visible_reply(content, is_failure=is_failure, is_made_up=is_made_up)
    assert seen is expected
