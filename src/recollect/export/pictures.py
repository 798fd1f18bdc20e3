"""Images in files of their own, beside a page or a document."""

import base64
import binascii
import hashlib
from typing import Final

from markupsafe import Markup

from recollect.documents.turns import Picture
from recollect.render.html.html_code import show_text
from recollect.render.html.images import recognise_image, render_picture
from recollect.render.markdown.markdown_parts import describe_picture
from recollect.render.markdown.markdown_prose import write_words

_SUFFIXES: Final = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
_HASH_LENGTH: Final = 16


class PictureFiles:
    """Collects the images of an export; each is one file, however often it is shown."""

    def __init__(self, folder: str) -> None:
        """Start without any; `folder` is where they will be, relative to the page."""
        self.folder = folder
        self.files: dict[str, bytes] = {}

    def show_in_page(self, picture: Picture) -> Markup:
        """Render an image of a page as a link to its file."""
        address = self._add(picture)
        if address is None:
            return render_picture(picture)
        image = Markup('<img class="picture" loading="lazy" alt="{}" src="{}">')
        return image.format(show_text(picture.name or picture.media_type), address)

    def show_in_document(self, picture: Picture) -> str:
        """Write an image of a Markdown document."""
        address = self._add(picture)
        if address is None:
            return describe_picture(picture)
        return f"![{write_words(picture.name or picture.media_type)}]({address})"

    def _add(self, picture: Picture) -> str | None:
        try:
            data = base64.b64decode(picture.data, validate=True)
        except (binascii.Error, ValueError):
            return None
        kind = recognise_image(data)
        if kind is None:
            return None
        name = hashlib.sha256(data).hexdigest()[:_HASH_LENGTH] + _SUFFIXES[kind]
        self.files[name] = data
        return f"{self.folder}/{name}"
