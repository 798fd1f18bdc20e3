"""What pages send to steer a conversation, and the table that describes it.

Each action is a POST to `/c/ID/NAME`; the OpenAPI document is made from the table.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from recollect.launch.context_references import ContextReference
from recollect.web.conversations.answers import AnswerBody, Text
from recollect.web.conversations.starting import StartBody, Word

PREFIX: Final = "/c"


class ImageBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image of a prompt; `data` is base64."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str


class PromptBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prompt with its references and images."""

    text: Text
    contexts: Annotated[list[ContextReference], Meta(max_length=50)] = []
    images: Annotated[list[ImageBody], Meta(max_length=20)] = []


class SettingsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings to change; None for those that stay."""

    model: Word | None = None
    permission_mode: Word | None = None
    effort: Word | None = None
    """A level that the model offers, `off` for no thinking, or `on` for the default again."""


class NamedBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something by its name: a queued prompt, a background task, instructions for a summary."""

    name: Text = ""


class EventParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversation, and from where on."""

    id: Annotated[Word, Meta(description="The conversation.")]
    last_id: Annotated[str, Meta(max_length=20, description="Like the header Last-Event-ID.")] = ""


class Done(Struct, frozen=True, kw_only=True):
    """It was done; `id` is of what was started, sent or answered."""

    id: str = ""


class NoBody(Struct, frozen=True, kw_only=True):
    """Nothing: `{}`."""


class Action(Struct, frozen=True):
    """Something that a page can ask of a conversation."""

    body: type[Struct]
    summary: str


START_ACTION: Final = Action(
    StartBody, "Start a conversation; resume or fork a session if one is named."
)
ACTIONS: Final[dict[str, Action]] = {
    "prompts": Action(PromptBody, "Send a prompt; while Claude Code works it is queued."),
    "answers": Action(AnswerBody, "Answer an open request, once."),
    "interrupt": Action(NoBody, "Interrupt the turn."),
    "settings": Action(SettingsBody, "Change the model, the permission mode or the thinking."),
    "compact": Action(NamedBody, "Summarise the conversation; `name` says what to keep."),
    "withdraw": Action(NamedBody, "Take back the queued prompt `name`."),
    "tasks": Action(NamedBody, "Stop the background task `name`."),
    "end": Action(NoBody, "End the conversation; its session can be resumed."),
}
