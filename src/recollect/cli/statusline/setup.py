"""The lines that make Claude Code show ours; the user puts them in place, nobody else does."""

import json
import shlex
import shutil
import sys


def make_setup() -> str:
    """What belongs into `settings.json`, as JSON."""
    program = "recollect" if shutil.which("recollect") else _name_module()
    command = {"type": "command", "command": f"{program} statusline"}
    return json.dumps({"statusLine": command}, indent=2)


def _name_module() -> str:
    """How to call the program where the shell does not find it by name."""
    return f"{shlex.quote(sys.executable)} -m recollect"
