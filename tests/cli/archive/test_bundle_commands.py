"""Tests of `recollect bundle` and `recollect import`: what they print, and where they write."""

import json
import re
from pathlib import Path

import pytest

from recollect.archive.bundles import open_bundle
from tests.archive.trees import read_facts
from tests.cli.demo_home import GOLDEN, make_demo_home, run_at
from tests.golden import check_golden
from tests.process import Finished, RunRecollect

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"


class Sender:
    """A home with the demo sessions, and commands that run in it."""

    def __init__(self, run: RunRecollect, folder: Path) -> None:
        self.home = make_demo_home()
        self.bundle = folder / "tide.recollect"
        self.folder = folder
        self._run = run

    def run(self, *words: str) -> Finished:
        """Run the program."""
        return run_at(self._run, 80, *words)

    def stabilise(self, text: str) -> str:
        """Return `text` without what is different on every machine."""
        text = re.sub(r"\(\d+\.\d KB\)", "(10.0 KB)", text)
        text = re.sub(r'"stored_bytes": \d+', '"stored_bytes": 10000', text)
        return text.replace(str(self.folder), "/home/mina/there")


@pytest.fixture
def sender(run_recollect: RunRecollect, tmp_path: Path) -> Sender:
    """Return a home and an empty directory for bundles."""
    return Sender(run_recollect, tmp_path)


@pytest.mark.parametrize(("options", "suffix"), [((), "-80.txt"), (("--json",), ".json")])
def test_what_is_printed(sender: Sender, options: tuple[str, ...], suffix: str) -> None:
    """A line for people, a document for programs."""
    packed = sender.run("bundle", SESSION, "-o", str(sender.bundle), *options)
    assert (packed.code, packed.stderr) == (0, "")
    check_golden(GOLDEN / f"bundle{suffix}", sender.stabilise(packed.stdout))
    target = str(sender.folder / "in")
    unpacked = sender.run("import", str(sender.bundle), "--to", target, *options)
    assert (unpacked.code, unpacked.stderr) == (0, "")
    check_golden(GOLDEN / f"import{suffix}", sender.stabilise(unpacked.stdout))


def test_a_session_can_be_read_where_it_was_imported(sender: Sender) -> None:
    """Other commands take the directory like any Claude directory."""
    sender.run("bundle", SESSION, "-o", str(sender.bundle))
    target = str(sender.folder / "in")
    assert sender.run("import", str(sender.bundle), "--to", target).code == 0
    here = sender.run("show", SESSION, "--no-pager")
    there = sender.run("show", SESSION, "--no-pager", "--claude-dir", target)
    assert (here.code, here.stdout) == (there.code, there.stdout)


def test_the_claude_directory_has_to_be_named(sender: Sender) -> None:
    """`--to` refuses it; `--into-claude-dir` places the session for another directory."""
    sender.run("bundle", SESSION, "-o", str(sender.bundle))
    claude = sender.home / ".claude"
    before = read_facts(claude)
    refused = sender.run("import", str(sender.bundle), "--to", str(claude))
    assert (refused.code, "--into-claude-dir" in refused.stderr) == (2, True)
    assert read_facts(claude) == before
    words = ("import", str(sender.bundle), "--map", "/home/mina=/Users/mina")
    done = sender.run(*words, "--into-claude-dir", str(claude))
    assert done.code == 0
    added = set(read_facts(claude)) - set(before)
    assert added
    assert {path.split("/")[1] for path in added if path.startswith("projects/")} == {
        "-Users-mina-projects-tidepool"
    }


def test_mistakes(sender: Sender) -> None:
    """Each has the exit code for it, and a message."""
    sender.bundle.write_bytes(b"not a bundle")
    for words, code in (
        (("import", str(sender.bundle)), 4),
        (("import", str(sender.folder / "missing.recollect")), 4),
        (("import", str(sender.bundle), "--map", "nothing"), 2),
        (("bundle", SESSION, "-o", str(sender.bundle)), 2),
        (("bundle", "no-such-session", "-o", str(sender.folder / "x.recollect")), 3),
        (("bundle", SESSION), 2),
    ):
        done = sender.run(*words)
        assert (done.code, done.stdout, done.stderr.startswith("recollect: ")) == (code, "", True)
    assert sender.bundle.read_bytes() == b"not a bundle"


def test_a_bundle_says_how_many_secrets_it_contains(sender: Sender) -> None:
    """In words, in JSON and in the bundle itself; never the secret."""
    secret = "AKIA" + "Q3EGRZ7X5PKL2M4N"
    (transcript,) = (sender.home / ".claude" / "projects").glob(f"*/{SESSION}.jsonl")
    with transcript.open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({"type": "user", "message": {"role": "user", "content": secret}}) + "\n"
        )
    packed = sender.run("bundle", SESSION, "-o", str(sender.bundle), "--json")
    report = json.loads(packed.stdout)
    assert sum(report["secrets"].values()) >= 1
    assert ("not masked" in packed.stderr, secret in packed.stderr) == (True, False)
    with sender.bundle.open("rb") as file:
        manifest = open_bundle(file, sender.bundle.stat().st_size).manifest
    assert manifest.redaction is not None
    assert manifest.redaction.secrets == report["secrets"]
