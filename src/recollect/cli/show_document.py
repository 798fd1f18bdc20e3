"""The JSON document of `recollect show`: the session and its turns."""

from msgspec import Struct

from recollect.documents.turns import TurnView
from recollect.session.metadata import Metadata

SCHEMA = "recollect.show/2"


class ShowDocument(Struct, frozen=True, kw_only=True):
    """The document of `--json`."""

    schema: str = SCHEMA
    session: Metadata
    turns: tuple[TurnView, ...]


class ShowHead(Struct, frozen=True, kw_only=True):
    """The first line of `--json-lines`; each of the others is a turn."""

    schema: str = SCHEMA
    session: Metadata
