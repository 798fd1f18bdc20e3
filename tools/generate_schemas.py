"""Generate the JSON Schemas of all JSON output: `python -m tools.generate_schemas`.

The document classes are the single source; the schemas are published with the package and listed
in docs/json.md.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from recollect.cli.json_output import DOCUMENTS, load_document_type

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "src" / "recollect" / "schemas"
PAGE = ROOT / "docs" / "json.md"
DRAFT = "https://json-schema.org/draft/2020-12/schema"

INTRODUCTION = """\
# JSON output

Nearly every command that outputs data supports `--json`. It prints one document whose `schema`
field names its type and version: `recollect.list/2` is version 2 of the output of
`recollect list --json`. New fields may be added within a version; removing a field or changing its
meaning increments the version. Non-ASCII characters are escaped, so that text from a transcript
cannot control the terminal at the end of a pipe.

Wherever there is `--json`, `--jq EXPR` prints what a [jq](https://jqlang.org) expression makes of
the document: strings as text, with escape sequences made visible, other values as JSON. It needs
the package `jq`: `pip install 'recollect[jq]'`. A wrong expression exits with 2.

```sh
recollect list --jq '.sessions[] | select(.cost_usd > 1) | .id'
```

`follow` and `run` stream events, so they support `--json-lines` instead: each line is a document.

Each document type has a JSON Schema, which is also installed with the package in
`recollect/schemas`:

| `schema` | printed by | JSON Schema |
|---|---|---|
"""
EXAMPLE = """
To load a schema in Python:

```python
import json
from importlib.resources import files

schema = json.loads(files("recollect").joinpath("schemas/list-2.json").read_text("utf-8"))
print(schema["properties"]["schema"])
```

```text
{'const': 'recollect.list/2'}
```
"""


def main() -> None:
    """Write all files, and remove schemas of documents that no longer exist."""
    SCHEMAS.mkdir(exist_ok=True)
    wanted = {SCHEMAS / name_file(name): format_schema(name) for name in DOCUMENTS}
    for path in set(SCHEMAS.glob("*.json")) - set(wanted):
        path.unlink()
    for path, text in {**wanted, PAGE: make_page()}.items():
        path.write_text(text, encoding="utf-8")


def name_file(name: str) -> str:
    """Return the file name of a schema: `list-2.json` for `recollect.list/2`."""
    return f"{name.removeprefix('recollect.').replace('/', '-')}.json"


def format_schema(name: str) -> str:
    """Return the schema as the text of its file."""
    return json.dumps(make_schema(name), indent=2, ensure_ascii=False) + "\n"


def make_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of the documents with that `schema`."""
    schema = msgspec.json.schema(load_document_type(name))
    definitions = schema.get("$defs", {})
    top = definitions.pop(str(schema.pop("$ref", "")).rpartition("/")[2], schema)
    top["properties"]["schema"] = {"const": name}
    top["required"] = ["schema", *(each for each in top.get("required", []) if each != "schema")]
    identity = f"urn:recollect:{name.removeprefix('recollect.').replace('/', ':')}"
    return {"$schema": DRAFT, "$id": identity, **top, "$defs": definitions}


def make_page() -> str:
    """Return the page that lists the schemas."""
    rows = [
        f"| `{name}` | {_list_commands(name)} | [{name_file(name)}]"
        f"(../src/recollect/schemas/{name_file(name)}) |\n"
        for name in DOCUMENTS
    ]
    return INTRODUCTION + "".join(rows) + EXAMPLE


def _list_commands(name: str) -> str:
    also = ALSO_BY.get(name)
    return f"`{name_command(name)}`" + (f"; also {also}" if also else "")


def name_command(name: str) -> str:
    """Return the command that prints documents of that schema."""
    words = name.removeprefix("recollect.").partition("/")[0].replace("-", " ")
    return f"recollect {PRINTED_BY.get(words, f'{words} --json')}"


PRINTED_BY = {
    "event": "follow --json-lines",
    "file": "file PATH --json",
    "blame": "blame PATH --json",
    "tree": "blame --stat DIR --json",
    "commits": "commits SESSION --json",
    "why": "why COMMIT --json",
    "checkpoints": "checkpoints SESSION --json",
    "run": "run PROMPT --json-lines",
    "usage explain": "usage explain TARGET --json",
    "config": "config show --json",
    "bundle": "bundle SESSION -o FILE --json",
    "import": "import FILE --json",
    "export": "export SESSION -o FILE --json",
    "archive restore": "archive restore SESSION --json",
    "archive removal": "archive forget SESSION --json",
}
"""Commands that cannot be derived from the name of a schema."""

ALSO_BY = {
    "recollect.archive-status/1": "`enable`, `disable`, `encrypt`, `decrypt`, `forget --undo`",
    "recollect.archive-removal/1": "`prune`",
}
"""Other commands of the same group that print documents of a schema."""


if __name__ == "__main__":
    main()
