"""A small Claude directory with made-up sessions, to try the program on and to test it with.

The files are written by `tools/generate_demo.py`; nobody said any of it.
"""

from pathlib import Path

CLAUDE_DIRECTORY = Path(__file__).parent / "claude"
"""The root of the demo data; it is only ever read."""
