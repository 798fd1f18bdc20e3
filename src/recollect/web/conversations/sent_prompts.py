"""Prompts from a page: text, references and images, and how they are sent to the client.

A prompt that is taken back for editing is returned to the page as it was sent.
"""

import base64
import binascii
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from recollect.launch.context_references import ContextReference, read_reference
from recollect.launch.conversation_events import PromptImage
from recollect.session.prompt_contexts import attach_contexts
from recollect.web.conversations.answers import Text
from recollect.web.http_messages import BadParameter

_RASTER: Final = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


class ImageBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image of a prompt; `data` is base64."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str


class PromptBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prompt with its references and images."""

    text: Text
    contexts: Annotated[list[ContextReference], Meta(max_length=50)] = []
    images: Annotated[list[ImageBody], Meta(max_length=20)] = []


def write_prompt(directory: str, body: PromptBody) -> str:
    """Return the text to send, with its references; reads files and git."""
    found = [read_reference(Path(directory), each) for each in body.contexts]
    return attach_contexts(
        body.text, [context for context, _ in found], [content for _, content in found]
    )


def read_image(image: ImageBody) -> PromptImage:
    """Return an image; raises BadParameter if its data is not of its media type."""
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadParameter("images", "An image is not valid base64.") from error
    if not data.startswith(_RASTER[image.media_type]):
        raise BadParameter("images", f"An image is not {image.media_type}.")
    return PromptImage(image.media_type, data)
