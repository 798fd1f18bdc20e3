"""User records inside a turn → steps: what somebody said, and what is no speech at all.

Results of tools are shown with their calls, never as something that a person said; only what
stands beside them in the same record is shown here.
"""

from recollect.records.blocks import ContentBlock, Text, ToolResult
from recollect.render.views.blocks import show_blocks
from recollect.render.views.conversation import Noted, NoticeKind, Said, Step
from recollect.render.views.hidden import HIDDEN_INPUTS
from recollect.render.views.notices import note_output
from recollect.render.views.parts import Code, Output, Part
from recollect.render.views.tags import find_inside, split_at
from recollect.render.views.values import show_fields, show_plain, show_prose
from recollect.render.views.words import take_line
from recollect.session.content import result_text
from recollect.session.contexts import separate_words
from recollect.session.messages import Message
from recollect.session.prompts import INTERRUPTION_MARKS, InputKind, Prompt

ORPHAN_TITLE = "The answer to a call that is not in this file"
_OUTPUTS = frozenset({InputKind.COMMAND_OUTPUT, InputKind.SHELL_OUTPUT})
_TASK = "task-notification"
_TASK_FIELDS = ("task-id", "status", "tool-use-id", "output-file", "note", "usage")


def show_input(message: Message, orphans: frozenset[str]) -> tuple[Step, ...]:
    """The steps of a user record that did not open its turn.

    `orphans` are the calls that are answered here and were made elsewhere.
    """
    prompt = message.prompt or Prompt(InputKind.TYPED, message.text)
    if prompt.kind is InputKind.TOOL_RESULT:
        return (*_show_orphans(message, orphans), *_show_beside(message))
    if prompt.kind in _OUTPUTS:
        return (note_output(_uuid_of(message), message.text, message.timestamp),)
    if prompt.kind is InputKind.INTERRUPTION:
        return (_note(message, NoticeKind.INTERRUPTION, message.text.strip().strip("[]")),)
    if prompt.kind in HIDDEN_INPUTS:
        media = show_media(message.content)
        return (_note(message, NoticeKind.INFORMATION, "For the model", media),) if media else ()
    parts = (*show_words(prompt), *show_media(message.content))
    return (make_said(message, parts),) if parts else ()


def show_words(prompt: Prompt) -> tuple[Part, ...]:
    """What was said in a prompt, as what it is."""
    match prompt.kind:
        case InputKind.COMMAND:
            return show_plain(name_command(prompt))
        case InputKind.SHELL:
            return (Code(prompt.words, language="bash"),) if prompt.words else ()
        case InputKind.TASK_NOTIFICATION:
            return _show_notification(prompt.words)
    return show_prose(prompt.words)


def name_command(prompt: Prompt) -> str:
    """The line by which a command was given."""
    command = prompt.command
    return f"{command.name} {command.arguments}".rstrip() if command else prompt.words


def name_notification(text: str) -> str:
    """The one line of a notification: its summary, else how it begins."""
    return take_line(find_inside(text, "summary")) or take_line(text)


def _show_notification(text: str) -> tuple[Part, ...]:
    """What a background task reported: its result, and what is known of it.

    Several notices may have been joined; text around them would be somebody's, and is kept.
    """
    notices = tuple(split_at(text, _TASK))
    if not notices:
        return show_prose(text)
    parts: list[Part] = list(show_prose(text.partition(f"<{_TASK}>")[0]))
    for notice in notices:
        parts += show_plain(find_inside(notice, "summary"))
        parts += show_prose(find_inside(notice, "result"))
        parts += show_fields(*((name, find_inside(notice, name)) for name in _TASK_FIELDS))
    return (*parts, *show_prose(text.rpartition(f"</{_TASK}>")[2] if f"</{_TASK}>" in text else ""))


def show_media(blocks: tuple[ContentBlock, ...]) -> tuple[Part, ...]:
    """The pictures, documents and unknown blocks among `blocks`."""
    return show_blocks(block for block in blocks if not isinstance(block, Text | ToolResult))


def _show_beside(message: Message) -> tuple[Step, ...]:
    """What stands beside the results in one record: a person's words, an interruption, pictures."""
    steps: list[Step] = []
    for block in message.content:
        words = separate_words(block.words)[0] if isinstance(block, Text) else ""
        if words.startswith(INTERRUPTION_MARKS):
            steps.append(_note(message, NoticeKind.INTERRUPTION, words.strip("[]")))
        elif words:
            steps.append(make_said(message, show_prose(words)))
    media = show_media(message.content)
    return (*steps, make_said(message, media)) if media else tuple(steps)


def _show_orphans(message: Message, orphans: frozenset[str]) -> tuple[Step, ...]:
    return tuple(
        _note(message, NoticeKind.INFORMATION, ORPHAN_TITLE, _show_result(block))
        for block in message.content
        if isinstance(block, ToolResult) and block.tool_use_id in orphans
    )


def _show_result(block: ToolResult) -> tuple[Part, ...]:
    if isinstance(block.content, tuple):
        return show_blocks(block.content)
    text = result_text(block)
    return (Output(text, is_error=bool(block.is_error)),) if text.strip() else ()


def make_said(message: Message, parts: tuple[Part, ...], *, is_opener: bool = False) -> Said:
    """What was said in a user record; when it opened its turn, links to it lead to the turn."""
    return Said(
        uuid=None if is_opener else _uuid_of(message),
        message_id=message.id,
        role="user",
        parts=parts,
        timestamp=message.timestamp,
        contexts=message.prompt.contexts if message.prompt else (),
    )


def _note(message: Message, kind: NoticeKind, title: str, parts: tuple[Part, ...] = ()) -> Noted:
    return Noted(
        uuid=_uuid_of(message), kind=kind, title=title, parts=parts, timestamp=message.timestamp
    )


def _uuid_of(message: Message) -> str | None:
    return message.records[0].uuid
