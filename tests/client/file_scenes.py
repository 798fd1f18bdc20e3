"""Scenes in which the scripted model works on files of the directory in which the client runs.

Every reply makes at most one call, so that each state of the directory belongs to one call. `WORK`
in a path stands for that directory.
"""

from tests.client.scenes import Block, Reply, bash, call, say, send

WORK = "@work@"


def _in(name: str) -> str:
    return f"{WORK}/{name}"


def read(name: str, **limits: int) -> Block:
    """Read a file, or some of its lines."""
    return call("Read", file_path=_in(name), **limits)


def write(name: str, content: str) -> Block:
    """Write a whole file."""
    return call("Write", file_path=_in(name), content=content)


def edit(name: str, old: str, new: str, *, replace_all: bool = False) -> Block:
    """Replace a text in a file."""
    return call(
        "Edit", file_path=_in(name), old_string=old, new_string=new, replace_all=replace_all
    )


def multi_edit(name: str, *pairs: tuple[str, str]) -> Block:
    """Replace several texts at once; newer clients have no such tool."""
    edits = [{"old_string": old, "new_string": new} for old, new in pairs]
    return call("MultiEdit", file_path=_in(name), edits=edits)


def edit_cell(name: str, cell: str, source: str) -> Block:
    """Replace a cell of a notebook."""
    return call("NotebookEdit", notebook_path=_in(name), cell_id=cell, new_source=source)


def _play(*blocks: Block) -> tuple[Reply, ...]:
    return (*(Reply((block,), 1) for block in blocks), Reply((say("Done."),), 1))


FILES = {
    "tabs.go": b"func one() {\n\tif x {\n\t\treturn 1\n\t}\n}\n",
    "crlf.txt": b"first\r\nsecond\r\nthird\r\n",
    "bom.txt": b"\xef\xbb\xbfalpha\nbeta\n",
    "open.txt": b"no final\nnewline",
    "big.py": b"".join(b"value_%d = compute(%d)\n" % (at, at) for at in range(600)),
    "agent.py": b"".join(b"agent_%d = work(%d)\n" % (at, at) for at in range(20)),
    "book.ipynb": (
        b'{\n "cells": [\n  {\n   "cell_type": "code",\n   "id": "one",\n   "metadata": {},\n'
        b'   "outputs": [],\n   "source": "print(1)"\n  }\n ],\n "metadata": {},\n'
        b' "nbformat": 4,\n "nbformat_minor": 5\n}\n'
    ),
}
"""The initial content of the directory: tabs, odd line ends, a large file, a notebook."""

FILE_SCENES: dict[str, tuple[Reply, ...]] = {
    "files_begin": _play(
        write("new.py", "import os\n\n\ndef run():\n    return os.name\n"),
        read("tabs.go"),
        edit("tabs.go", "\t\treturn 1", "\t\tprint(1)\n\t\treturn 2"),
        read("crlf.txt"),
        edit("crlf.txt", "second", "second and a half"),
        read("bom.txt"),
        edit("bom.txt", "beta", "gamma"),
        read("open.txt"),
        edit("open.txt", "newline", "newline, still"),
        read("big.py"),
        edit("big.py", "value_77 = compute(77)", "value_77 = changed(77)"),
        edit("big.py", "value_400 = compute(400)\n", ""),
        multi_edit("new.py", ("import os\n", "import os\nimport sys\n"), ("os.name", "sys.path")),
        read("book.ipynb"),
        edit_cell("book.ipynb", "one", 'print("two")\nprint(2)'),
        bash("sed -i s/first/FIRST/ crlf.txt"),
        edit("crlf.txt", "third", "last"),
    ),
    "files_agent": _play(
        bash("printf 'by the shell\\n' >> new.py"),
        send("files_worker"),
        read("agent.py"),
        edit("agent.py", "agent_3 = work(3)", "agent_3 = done(3)"),
        read("new.py"),
        edit("new.py", "def run():", "def run_all():"),
    ),
    "files_worker": _play(
        read("agent.py"),
        edit("agent.py", "agent_9 = work(9)", "agent_9 = helped(9)\nagent_10b = 0"),
        write("from_agent.txt", "A file of the subagent.\n"),
    ),
    "files_end": _play(
        read("big.py", offset=100, limit=20),
        edit("big.py", "value_110 = compute(110)", "value_110 = late(110)"),
        bash("mv tabs.go moved.go"),
        read("moved.go"),
        edit("moved.go", "print(1)", "print(3)"),
        read("open.txt"),
        write("open.txt", "written\nanew"),
        edit("open.txt", "w", "W", replace_all=True),
        read("big.py"),
        write("big.py", "".join(f"value_{at} = rewritten({at})\n" for at in range(400, 1000))),
        edit("big.py", "value_500 = rewritten(500)", "value_500 = once_more(500)"),
    ),
    "files_again": _play(
        read("new.py"),
        edit("new.py", "def run", "async def run"),
        bash("rm bom.txt"),
        write("bom.txt", "a new one\n"),
    ),
}
