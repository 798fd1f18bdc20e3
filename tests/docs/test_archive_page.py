"""docs/archive.md is correct: a shell restores a file by its recipe, and tables are complete."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from recollect.archive.bundles import (
    FREE_BYTES,
    MAX_BYTES,
    MAX_FILES,
    MAX_RATIO,
    BundledFile,
    BundledSession,
    BundleManifest,
)
from recollect.archive.manifests import FileKind, FileVersion, Header
from tests.archive.trees import LINE, TRANSCRIPT, ArchivedRoot
from tests.docs.documented import fields_of

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "archive.md").read_text(encoding="utf-8")
TOOLS = ("sh", "zstd", "jq", "sha256sum", "cut", "head", "tail")


def read_recipe() -> str:
    """Return the shell script of the page."""
    (recipe,) = [
        block
        for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
        if "zstd" in block
    ]
    return str(recipe)


def run_recipe(archived: ArchivedRoot, file: str) -> list[str]:
    """Run the script on another file, in the directory of an archive; return its output."""
    for tool in TOOLS:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    script = re.sub(
        r"^export file='.*'$", f"export file='{file}'", read_recipe(), flags=re.MULTILINE
    )
    assert file in script
    done = subprocess.run(
        ["sh", "-eu", "-c", script],
        cwd=archived.archive.directory,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_a_file_can_be_restored_with_a_shell(tmp_path: Path) -> None:
    """The newest version of a transcript that has grown, out of several pieces."""
    archived = ArchivedRoot(tmp_path)
    for size in (1, 1000, 3000):
        archived.write(TRANSCRIPT, LINE * size, mtime=1_700_000_000 + size)
        archived.write("history.jsonl", b"{}\n")
        archived.sync()
    newest = next(each for each in archived.archive.load().newest().values() if each.pieces[2:])
    printed = run_recipe(archived, TRANSCRIPT)
    assert (archived.archive.directory / "restored").read_bytes() == LINE * 3000
    assert printed == ["history.jsonl", TRANSCRIPT, f"{newest.sha256}  restored", newest.sha256]


def test_a_damaged_object_can_be_found_with_a_shell(tmp_path: Path) -> None:
    """It is printed last."""
    archived = ArchivedRoot(tmp_path)
    archived.write(TRANSCRIPT, LINE)
    archived.write("history.jsonl", b"{}\n")
    archived.sync()
    newest = archived.archive.load().newest()
    (history,) = [each for each in newest.values() if each.kind is FileKind.HISTORY]
    name = history.pieces[0].object
    path = archived.archive.directory / "objects" / name[:2] / f"{name}.zst"
    path.write_bytes(path.read_bytes() + b"x")
    assert run_recipe(archived, TRANSCRIPT)[-1] == f"objects/{name[:2]}/{name}.zst"


def test_every_field_is_documented() -> None:
    """The tables have all fields of a header and of a version, in order."""
    section = PAGE[PAGE.index("## The format") : PAGE.index("### Restoring")]
    documented = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert documented == [*fields_of(Header), *fields_of(FileVersion)]
    assert [kind.value for kind in FileKind if f"`{kind.value}`" not in section] == []


def test_bundles_are_documented() -> None:
    """Fields and limits equal those of the code."""
    section = PAGE[PAGE.index("## Bundles") :]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", section, flags=re.MULTILINE)
    assert [name for name, _ in rows] == fields_of(BundleManifest)
    nested = {name: re.findall(r"`(\w+)`", meaning) for name, meaning in rows}
    assert nested["sessions"] == fields_of(BundledSession)
    assert nested["files"] == fields_of(BundledFile)
    limits = f"{MAX_FILES:,} files,\nmore than {MAX_BYTES >> 30} GB"
    assert limits in section
    assert f"{FREE_BYTES >> 20} MB and {MAX_RATIO:,} times" in section
