"""What `--json` and `--json-lines` print: how documents become text, and the list of them all.

Escaped beyond ASCII, so that nothing out of a transcript can drive the terminal at the end of a
pipe. The list names classes without importing them, since a command needs its own at most.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import msgspec

DOCUMENTS: Final[Mapping[str, str]] = {
    "recollect.list/1": "recollect.cli.list.document:ListDocument",
    "recollect.show/1": "recollect.cli.show.document:ShowDocument",
    "recollect.event/1": "recollect.cli.follow.document:EventDocument",
    "recollect.files/1": "recollect.cli.files.document:FilesDocument",
    "recollect.tools/1": "recollect.cli.commands.tools:ToolsDocument",
    "recollect.run/1": "recollect.cli.run.document:RunDocument",
    "recollect.resume/1": "recollect.cli.commands.resume:ResumeDocument",
    "recollect.open/1": "recollect.cli.commands.open:OpenDocument",
    "recollect.search/1": "recollect.cli.commands.search:SearchDocument",
    "recollect.usage/1": "recollect.usage.documents:UsageDocument",
    "recollect.usage-explain/1": "recollect.usage.documents:ExplainDocument",
    "recollect.doctor/1": "recollect.health.report:Report",
    "recollect.index/1": "recollect.cli.index.document:IndexDocument",
    "recollect.statusline/1": "recollect.cli.statusline.document:StatuslineDocument",
    "recollect.config/1": "recollect.cli.commands.config:ConfigDocument",
}
"""By the value of its `schema` field, the class of each document."""


def format_document(document: object) -> str:
    """A document as indented JSON."""
    return _format(document, indent=2)


def format_line(document: object) -> str:
    """A document as JSON on one line."""
    return _format(document, indent=None)


def _format(document: object, indent: int | None) -> str:
    # DEL is ASCII, so JSON leaves it as it is; a terminal may not.
    return json.dumps(msgspec.to_builtins(document), indent=indent).replace("\x7f", "\\u007f")


def load_document_type(schema: str) -> Any:  # noqa: ANN401 - a class, or a type that describes a dict
    """The class of the documents with this `schema`."""
    module, _, name = DOCUMENTS[schema].partition(":")
    return getattr(import_module(module), name)
