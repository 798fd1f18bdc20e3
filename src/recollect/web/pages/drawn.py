"""What a page comes to: a template, its context, and where it stands among the pages."""

from msgspec import Struct


class Drawn(Struct, frozen=True):
    """A page before it is drawn."""

    template: str
    page: Struct
    title: str = ""
    section: str = ""
