"""The conversation example in the library's documentation works as printed."""

import os
import re
from pathlib import Path

from tests.launch.conversing import install_client
from tests.launch.fake_client import needs_posix
from tests.process import run_python

ROOT = Path(__file__).resolve().parents[2]


@needs_posix
def test_the_example_of_a_conversation_runs(tmp_path: Path) -> None:
    """With a client that repeats the prompt, in an existing directory."""
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    section = page.split("## Conversations\n")[1]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    example = found[1].replace("/srv/harbour", str(tmp_path))
    install_client(tmp_path / "bin")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = run_python("-c", example, env={"PATH": path})
    assert (done.code, done.stdout, done.stderr) == (0, "does the tide test fail?\n", "")
