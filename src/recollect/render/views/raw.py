"""Any record as the bytes say it.

Reading bytes is the library's task: whoever asks hands in the function that does it.
"""

from collections.abc import Callable

from recollect.records.span import Span
from recollect.render.views.parts import Json
from recollect.render.views.values import show_json
from recollect.session.session import Session

_LINE_EDGES = b"\xef\xbb\xbf\x00 \t\r\n"


def build_raw_view(session: Session, uuid: str, read: Callable[[Span], bytes]) -> Json | None:
    """The JSON of the record `uuid`, indented; None when no file is known to hold such a record.

    `read` gives the bytes of a span. Bytes that are no JSON are shown as they are.
    """
    span = find_span(session, uuid)
    return None if span is None else show_raw(read(span))


def find_span(session: Session, uuid: str) -> Span | None:
    """Where the record `uuid` lies; None for records that came from no file, or do not exist."""
    link = session.tree.links.get(uuid)
    return link.span if link else None


def show_raw(data: bytes) -> Json:
    """The bytes of one line, indented if they are JSON."""
    return show_json(data.strip(_LINE_EDGES))
