"""Contexts of secrets in transcripts: twenty ways to write one.

A context takes a family and a plant and returns the text of a tool result. A family without a
recognisable format is always written with the name of its key, because it could not be
distinguished from a hash otherwise.
"""

import base64
import json
import textwrap
from collections.abc import Callable, Mapping
from random import Random
from typing import Final, NamedTuple
from urllib.parse import quote

from tests.redact.made_up_secrets import Family, Plant

_CLOCK: Final = "2026-11-16T09:14:07.311Z"


class Written(NamedTuple):
    """A secret as text, with its key in several spellings."""

    key: str
    text: str
    recognisable: bool
    rng: Random

    @property
    def field(self) -> str:
        """Return the key as it is spelled in JSON and YAML."""
        return self.key.lower()

    @property
    def option(self) -> str:
        """Return the key as it is spelled on a command line."""
        return "--" + self.key.lower().replace("_", "-")

    @property
    def label(self) -> str:
        """Return the key as it is spelled in a sentence; empty if the value is recognisable."""
        return "" if self.recognisable else self.key.replace("_", " ").lower() + " "


Context = Callable[[Written], str]


def _env(it: Written) -> str:
    return f"NODE_ENV=production\n{it.key}={it.text}\nPORT=8080\n"


def _export(it: Written) -> str:
    return f'#!/bin/sh\nexport PATH=/usr/bin\nexport {it.key}="{it.text}"\nexec "$@"\n'


def _document(it: Written) -> str:
    return json.dumps({"name": "letterpress", it.field: it.text, "retries": 3})


def _yaml(it: Written) -> str:
    if "\n" in it.text:
        return f"data:\n  {it.field}: |\n{textwrap.indent(it.text, '    ')}\n  replicas: 2\n"
    return f"service:\n  name: letterpress\n  {it.field}: {it.text}\n  replicas: 2\n"


def _json_twice(it: Written) -> str:
    return json.dumps({"stdout": _document(it), "code": 0})


def _json_thrice(it: Written) -> str:
    return json.dumps({"content": [{"type": "text", "text": _json_twice(it)}]})


def _repr(it: Written) -> str:
    return f"settings = { ({'debug': False, it.field: it.text, 'workers': 4})!r}"


def _diff(it: Written) -> str:
    lines = "\n".join("+" + line for line in f"{it.key}={it.text}".split("\n"))
    return f"--- a/.env\n+++ b/.env\n@@ -1,2 +1,3 @@\n NODE_ENV=production\n{lines}\n PORT=8080\n"


def _numbered(it: Written) -> str:
    lines = _env(it).splitlines()
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, 1))


def _header(it: Written) -> str:
    if it.key in {"Authorization", "Cookie"}:
        header = f"{it.key}: {it.text}"
    elif it.recognisable:
        header = f"authorization: Bearer {it.text}"
    else:
        header = f"x-{it.field.replace('_', '-')}: {it.text}"
    return f"> GET /v1/items HTTP/2\n> Host: api.example.org\n> {header}\n> accept: */*\n>\n"


def _query(it: Written) -> str:
    return f"GET https://api.example.org/v1/items?limit=20&{it.field}={quote(it.text, '')}&page=2"


def _colour(it: Written) -> str:
    return f"\x1b[1m\x1b[32m{it.key}\x1b[0m=\x1b[33m{it.text}\x1b[0m\n\x1b[2mdone\x1b[22m\n"


def _colour_in_json(it: Written) -> str:
    return json.dumps({"stdout": json.dumps(_colour(it)), "interrupted": False})


def _stack_trace(it: Written) -> str:
    return (
        'Traceback (most recent call last):\n  File "/srv/app/client.py", line 41, in connect\n'
        "    response.raise_for_status()\n"
        f"app.errors.Unauthorized: 401 for {it.label}'{it.text}'\n"
    )


def _wrapped(it: Written) -> str:
    filler = "x" * it.rng.randint(0, 60)
    line = f"{_CLOCK} [{filler}] starting worker with {it.key}={it.text} on port 8080"
    return "\n".join(line[at : at + 80] for at in range(0, len(line), 80))


def _encoded_file(it: Written) -> str:
    encoded = base64.b64encode(_env(it).encode()).decode()
    return "\n".join(encoded[at : at + 76] for at in range(0, len(encoded), 76))


def _sentence(it: Written) -> str:
    return f"I have put {it.label}`{it.text}` into the settings; restart the server now."


def _command(it: Written) -> str:
    return f"$ ./deploy.sh --region eu-west-1 {it.option} '{it.text}' --verbose"


def _toml(it: Written) -> str:
    quotes = '"""' if "\n" in it.text else '"'
    return f'[service]\nname = "letterpress"\n{it.field} = {quotes}{it.text}{quotes}\n'


def _inspect(it: Written) -> str:
    variables = ["PATH=/usr/bin", f"{it.key}={it.text}", "LANG=C.UTF-8"]
    return json.dumps([{"Config": {"Env": variables, "Cmd": ["serve"]}}], indent=4)


def _log(it: Written) -> str:
    name = f"{it.field}=" if it.label else ""
    return f"{_CLOCK} WARN retrying request 3 of 5 with {name}{it.text}, next attempt in 800 ms"


CONTEXTS: Final[Mapping[str, Context]] = {
    "env": _env,
    "export": _export,
    "json": _document,
    "json-twice": _json_twice,
    "json-thrice": _json_thrice,
    "yaml": _yaml,
    "toml": _toml,
    "repr": _repr,
    "diff": _diff,
    "numbered": _numbered,
    "header": _header,
    "query": _query,
    "colour": _colour,
    "colour-in-json": _colour_in_json,
    "stack-trace": _stack_trace,
    "wrapped": _wrapped,
    "encoded-file": _encoded_file,
    "sentence": _sentence,
    "command": _command,
    "inspect": _inspect,
    "log": _log,
}
_ONE_LINE: Final = frozenset({"header", "query", "stack-trace", "wrapped", "sentence", "log"})


def list_contexts(family: Family) -> list[str]:
    """Return the names of the contexts for a family."""
    return [name for name in CONTEXTS if not (family.multiline and name in _ONE_LINE)]


def write_down(context: str, family: Family, plant: Plant, rng: Random) -> str:
    """Return a text with the plant in it."""
    return CONTEXTS[context](Written(family.key, plant.text, family.recognisable, rng))
