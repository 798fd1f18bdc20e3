"""A session as JSON, in the shape of `recollect show --json`, one turn per line."""

from collections.abc import Iterator

from recollect.documents.json_text import format_line
from recollect.documents.session_documents import ShowHead
from recollect.export.material import Material


def iter_json(material: Material) -> Iterator[str]:
    """Yield a `recollect.show` document piece by piece."""
    head = format_line(ShowHead(session=material.metadata))
    yield f'{head.removesuffix("}")}, "turns": ['
    for number, turn in enumerate(material.turns):
        yield f"{',' if number else ''}\n{format_line(turn)}"
    yield "\n]}\n"
