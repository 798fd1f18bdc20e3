"""One record, as its bytes stand in the file.

The place comes from the session that was read; the file is opened by the path that discovery
found, as a regular file and never through a link. Nothing of a request becomes part of a path.
"""

from typing import Annotated

from msgspec import Meta, Struct

from recollect.reader.transcript import read_span
from recollect.web.api.finding import find_span
from recollect.web.api.sessions import Project, SessionParameters, locate
from recollect.web.parameters import Id
from recollect.web.services import Services

Uuid = Annotated[
    str, Meta(min_length=1, max_length=200, description="The `uuid` that the record says.")
]


class RecordParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which record of which session."""

    id: Id
    uuid: Uuid
    project: Project | None = None


def load_record(services: Services, wanted: RecordParameters) -> bytes:
    """The bytes of the record, without its line end."""
    found = locate(services, SessionParameters(id=wanted.id, project=wanted.project))
    with services.opened.use(found) as session:
        span = find_span(session, wanted.uuid)
    return read_span(span).rstrip(b"\r\n")
