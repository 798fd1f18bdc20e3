"""The one rule of what a reader sees by default.

Hidden is what the client injected, bookkeeping, and what is empty; nothing is dropped, and every
view can show all of it.
"""

from recollect.records.blocks import ContentBlock, RedactedThinking, Text, Thinking
from recollect.session.prompts import InputKind, Prompt

HIDDEN_KINDS = frozenset({InputKind.INJECTED, InputKind.WARMUP})


def is_visible_prompt(prompt: Prompt) -> bool:
    """Whether a user record is worth a reader's eye."""
    return prompt.kind not in HIDDEN_KINDS


def is_visible_reply(
    content: tuple[ContentBlock, ...], *, is_failure: bool, is_made_up: bool
) -> bool:
    """Whether a reply is: it says or does something, or tells of a failure."""
    if is_failure:
        return True
    says_something = any(not is_empty_block(block) for block in content)
    return says_something and not (is_made_up and _is_filler(content))


def is_empty_block(block: ContentBlock) -> bool:
    """Whether there is nothing to read in `block`."""
    match block:
        case Text():
            return not block.words.strip()
        case Thinking():
            return not block.thinking.strip()
        case RedactedThinking():
            return True
    return False


def _is_filler(content: tuple[ContentBlock, ...]) -> bool:
    """The line by which older clients fill the place of an answer that nobody asked for."""
    return all(isinstance(b, Text) and b.words == "No response requested." for b in content)
