"""Build messages from records, and define once which of them are visible by default.

The client writes one line per content block; the lines of one response share `message.id` and are
joined here. Content is the union of the lines, and the largest usage is the final one, because
earlier lines may carry a placeholder. A queued prompt that exists only as an attachment, or only in
the queue, is a message too.

Hidden are texts that the client injected, bookkeeping, and empty messages; nothing is dropped, and
every view can show all of it.
"""

from collections.abc import Iterable, Sequence

from msgspec import Raw, Struct

from recollect.documents.kinds import InputKind
from recollect.records import attachment_kinds, attachments, conversation_records, decoding
from recollect.records.blocks import ContentBlock, RedactedThinking, Text, Thinking, ToolUse
from recollect.records.envelope import Chain, is_absent
from recollect.records.token_usage import Usage
from recollect.session import prompts, queue, record_texts

HIDDEN_KINDS = frozenset({InputKind.INJECTED, InputKind.WARMUP})


def is_visible_prompt(prompt: prompts.Prompt) -> bool:
    """Return whether a user record is shown by default."""
    return prompt.kind not in HIDDEN_KINDS


def is_visible_reply(
    content: tuple[ContentBlock, ...], *, is_failure: bool, is_made_up: bool
) -> bool:
    """Return whether a reply is shown by default: it has content, or reports a failure."""
    if is_failure:
        return True
    has_content = any(not is_empty_block(block) for block in content)
    return has_content and not (is_made_up and _is_filler(content))


def is_empty_block(block: ContentBlock) -> bool:
    """Return whether `block` has no content to show."""
    match block:
        case Text():
            return not block.words.strip()
        case Thinking():
            return not block.thinking.strip()
        case RedactedThinking():
            return True
    return False


def _is_filler(content: tuple[ContentBlock, ...]) -> bool:
    """Return whether this is the placeholder that old clients wrote if no reply was requested."""
    return all(isinstance(b, Text) and b.words == "No response requested." for b in content)


class ApiFailure(Struct, frozen=True):
    """Why the API did not respond, according to the client."""

    text: str
    error: str | None
    status: int | None


class Message(Struct, frozen=True, kw_only=True):
    """One prompt, tool result, reply or injected text.

    `id` is the API's id for replies and the record's uuid otherwise. `is_visible` says whether it
    is shown by default; nothing is ever dropped.
    """

    id: str
    role: str
    records: tuple[Chain, ...]
    uuids: tuple[str, ...]
    """The uuids of its records."""
    content: tuple[ContentBlock, ...]
    prompt: prompts.Prompt | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    request_id: str | None = None
    effort: str | None = None
    failure: ApiFailure | None = None
    is_synthetic: bool = False
    is_aborted: bool = False
    is_visible: bool = True

    @property
    def text(self) -> str:
        """Return the text of its text blocks."""
        return record_texts.join_text(self.content)

    @property
    def timestamp(self) -> str | None:
        """Return the time of its first record."""
        return self.records[0].timestamp


def build_messages(
    chain: Sequence[Chain],
    superseded: Iterable[conversation_records.Assistant],
    *,
    is_subagent: bool,
) -> tuple[Message, ...]:
    """Return the messages of `chain` in file order."""
    groups: dict[str, list[conversation_records.Assistant]] = {}
    order: list[Message | str] = []
    for number, link in enumerate(chain):
        if isinstance(link, conversation_records.Assistant):
            key = _find_message_key(link) or f"#{number}"
            if key not in groups:
                groups[key] = []
                order.append(key)
            groups[key].append(link)
        elif isinstance(link, conversation_records.User):
            order.append(
                _make_input(link, prompts.read_prompt(link, is_subagent=is_subagent), number)
            )
        elif isinstance(link, attachments.Attachment) and isinstance(
            link.attachment, attachment_kinds.QueuedCommand
        ):
            order.append(_make_input(link, prompts.read_queued(link.attachment), number))
        elif isinstance(link, queue.QueuedPrompt):
            prompt = prompts.read_unrecorded(link.prompt, is_sent=link.is_sent)
            order.append(_make_input(link, prompt, number))
    spare: dict[str, list[conversation_records.Assistant]] = {}
    for line in superseded:
        spare.setdefault(_find_message_key(line) or "", []).append(line)
    return tuple(
        _build_reply(item, groups[item], spare.get(item, [])) if isinstance(item, str) else item
        for item in order
    )


def _find_message_key(record: conversation_records.Assistant) -> str | None:
    """Return a key for lines of one message; lines generated by the client stay separate."""
    message = record.message
    if message is None or not message.id or message.model == conversation_records.SYNTHETIC_MODEL:
        return record.uuid
    return message.id


def _make_input(
    record: conversation_records.User | attachments.Attachment | queue.QueuedPrompt,
    prompt: prompts.Prompt,
    number: int,
) -> Message:
    match record:
        case conversation_records.User(message=message):
            content = record_texts.list_blocks(message.content if message else None)
        case (
            attachments.Attachment(attachment=attachment_kinds.QueuedCommand(prompt=words))
            | queue.QueuedPrompt(prompt=words)
        ):
            content = record_texts.list_blocks(words)
        case _:
            content = ()
    return Message(
        id=record.uuid or f"#{number}",
        role="user",
        records=(record,),
        uuids=(record.uuid,) if record.uuid else (),
        content=content,
        prompt=prompt,
        is_visible=is_visible_prompt(prompt),
    )


def _build_reply(
    key: str,
    lines: list[conversation_records.Assistant],
    superseded: list[conversation_records.Assistant],
) -> Message:
    content = _join_content(lines)
    last = lines[-1]
    models = [line.message.model for line in lines if line.message and line.message.model]
    stops = [line.message.stop_reason for line in lines if line.message]
    is_synthetic = bool(models) and models[0] == conversation_records.SYNTHETIC_MODEL
    failure = _read_failure(last, content)
    return Message(
        id=key,
        role="assistant",
        records=tuple(lines),
        uuids=tuple([line.uuid for line in lines if line.uuid]),
        content=content,
        model=models[0] if models else None,
        stop_reason=next((stop for stop in reversed(stops) if stop), None),
        usage=largest_usage([*lines, *superseded]),
        request_id=next((line.request_id for line in lines if line.request_id), None),
        effort=last.effort,
        failure=failure,
        is_synthetic=is_synthetic,
        is_aborted=any(line.is_aborted_mid_stream for line in lines),
        is_visible=is_visible_reply(
            content, is_failure=failure is not None, is_made_up=is_synthetic
        ),
    )


def _join_content(lines: list[conversation_records.Assistant]) -> tuple[ContentBlock, ...]:
    """Join the blocks of all lines: by `apiBlockIndex` if every line has one, else in file order.

    A repeated line has the id of a known call, or the block at the same index; other lines are not
    copies.
    """
    if len(lines) > 1 and all(line.api_block_index is not None for line in lines):
        lines = sorted(lines, key=lambda line: line.api_block_index or 0)
    called: set[str] = set()
    last_at: dict[tuple[int | None, int], ContentBlock] = {}
    blocks: list[ContentBlock] = []
    for line in lines:
        index = line.api_block_index
        for place, block in enumerate(
            record_texts.list_blocks(line.message.content if line.message else None)
        ):
            if isinstance(block, ToolUse) and block.id:
                is_copy = block.id in called
                called.add(block.id)
            else:
                is_copy = index is not None and last_at.get((index, place)) == block
                last_at[index, place] = block
            if not is_copy:
                blocks.append(block)
    return tuple(blocks)


def largest_usage(lines: Iterable[conversation_records.Assistant]) -> Usage | None:
    """Return the final usage of a message: the line with the most output, then the most tokens."""
    known = [line.message.usage for line in lines if line.message and line.message.usage]
    return max(known, key=lambda usage: (usage.output_tokens, usage.total_tokens), default=None)


def _read_failure(
    line: conversation_records.Assistant, content: tuple[ContentBlock, ...]
) -> ApiFailure | None:
    if not line.is_api_error_message:
        return None
    error = None if is_absent(line.error) else _read_error(line.error)
    return ApiFailure(
        text=record_texts.join_text(content), error=error, status=line.api_error_status
    )


def _read_error(raw: Raw) -> str:
    name = decoding.decode_value(raw, str)
    return bytes(raw).decode(errors="replace") if name is None else name
