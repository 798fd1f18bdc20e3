"""Writes the JSON Schema of all that is printed as JSON: `python -m tools.generate_schemas`.

The classes are the only description of the documents; a schema is made from them, with the value
of its `schema` field fixed, and published with the package. docs/json.md lists them.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from recollect.cli.documents import DOCUMENTS, load_document_type

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "src" / "recollect" / "schemas"
PAGE = ROOT / "docs" / "json.md"
DRAFT = "https://json-schema.org/draft/2020-12/schema"

INTRODUCTION = """\
# The JSON of every command

Every command that has data to print takes `--json`. What it prints is one document, whose
`schema` field names its shape and the version of that shape: `recollect.list/1` is version 1 of
what `recollect list --json` prints. Fields may be added to a version; when one goes or changes its
meaning, the number grows. Characters beyond ASCII are escaped, so that nothing out of a transcript
can drive the terminal at the end of a pipe.

`follow` and `run` tell things as they happen and take `--json-lines` instead: each line that they
print is a document of its own.

Each shape has a JSON Schema, which also comes with the package, in `recollect/schemas`:

| `schema` | printed by | JSON Schema |
|---|---|---|
"""
EXAMPLE = """
The name of a schema tells the file:

```python
import json
from importlib.resources import files

schema = json.loads(files("recollect").joinpath("schemas/list-1.json").read_text("utf-8"))
print(schema["properties"]["schema"])
```

```text
{'const': 'recollect.list/1'}
```
"""


def main() -> None:
    """Write all files, and remove those of documents that are no more."""
    SCHEMAS.mkdir(exist_ok=True)
    wanted = {SCHEMAS / name_file(name): format_schema(name) for name in DOCUMENTS}
    for path in set(SCHEMAS.glob("*.json")) - set(wanted):
        path.unlink()
    for path, text in {**wanted, PAGE: make_page()}.items():
        path.write_text(text, encoding="utf-8")


def name_file(name: str) -> str:
    """The file of the schema of that name: `recollect.list/1` is in `list-1.json`."""
    return f"{name.removeprefix('recollect.').replace('/', '-')}.json"


def format_schema(name: str) -> str:
    """The schema as the text of its file."""
    return json.dumps(make_schema(name), indent=2, ensure_ascii=False) + "\n"


def make_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of the documents with that `schema`."""
    schema = msgspec.json.schema(load_document_type(name))
    definitions = schema.get("$defs", {})
    top = definitions.pop(str(schema.pop("$ref", "")).rpartition("/")[2], schema)
    top["properties"]["schema"] = {"const": name}
    top["required"] = ["schema", *(each for each in top.get("required", []) if each != "schema")]
    identity = f"urn:recollect:{name.removeprefix('recollect.').replace('/', ':')}"
    return {"$schema": DRAFT, "$id": identity, **top, "$defs": definitions}


def make_page() -> str:
    """The page that lists the schemas."""
    rows = [
        f"| `{name}` | `{name_command(name)}` | [{name_file(name)}]"
        f"(../src/recollect/schemas/{name_file(name)}) |\n"
        for name in DOCUMENTS
    ]
    return INTRODUCTION + "".join(rows) + EXAMPLE


def name_command(name: str) -> str:
    """What prints documents of that schema."""
    words = name.removeprefix("recollect.").partition("/")[0].replace("-", " ")
    return f"recollect {PRINTED_BY.get(words, f'{words} --json')}"


PRINTED_BY = {
    "event": "follow --json-lines",
    "run": "run PROMPT --json-lines",
    "usage explain": "usage explain TARGET --json",
    "config": "config show --json",
}
"""Where the name of a schema does not tell all of the command."""


if __name__ == "__main__":
    main()
