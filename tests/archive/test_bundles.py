"""Bundles: what is packed is unpacked unchanged, and hostile ones are refused."""

import hashlib
import json
import shutil
import struct
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from recollect.archive import bundles
from recollect.archive.bundle_tasks import import_bundle, make_bundle
from recollect.archive.object_store import compress
from recollect.errors import UnreadableInput, UsageError
from recollect.locations import Transcript, discover_root
from tests.archive.trees import (
    LINE,
    OTHER,
    PROJECT,
    SESSION,
    SIDECARS,
    TRANSCRIPT,
    ArchivedRoot,
    FileFacts,
    read_facts,
)

CWD = "/home/mina/pond"
WITH_CWD = LINE.replace(b'"slug"', b'"cwd":"%s","slug"' % CWD.encode())
MARK = struct.pack("<II", 0x184D2A50, len(bundles.FORMAT)) + bundles.FORMAT.encode()
CONTENT = b"hello\n"
Change = Callable[[dict[str, Any]], object]


def find_transcript(archived: ArchivedRoot, session: str) -> Transcript:
    """Return the transcript of a session."""
    found = discover_root(archived.root).transcripts
    return next(each for each in found if each.path.stem == session)


def unpack(
    path: Path, base: Path, mapping: Mapping[str, str] | None = None, *, dry_run: bool = False
) -> dict[str, FileFacts]:
    """Import a bundle and return the resulting files."""
    import_bundle(path, base, mapping or {}, dry_run=dry_run, keep_times=True)
    return read_facts(base)


@pytest.fixture
def bundle(archived: ArchivedRoot, tmp_path: Path) -> Path:
    """Return a bundle of one session out of two."""
    archived.write_session()
    archived.write(TRANSCRIPT, WITH_CWD * 20)
    archived.write(f"{PROJECT}/{OTHER}.jsonl", b"{}\n")
    path = tmp_path / "pond.recollect"
    make_bundle([find_transcript(archived, SESSION)], path)
    return path


def test_what_is_packed_is_unpacked(archived: ArchivedRoot, bundle: Path, tmp_path: Path) -> None:
    """The session with everything that belongs to it, and nothing else; private files."""
    expected = {
        path: facts._replace(mode=0o600)
        for path, facts in read_facts(archived.root).items()
        if path in {TRANSCRIPT, *SIDECARS}
    }
    assert unpack(bundle, tmp_path / "there") == expected
    assert bundle.stat().st_mode & 0o777 == 0o600
    assert unpack(bundle, tmp_path / "there") == expected


def test_a_dry_run_writes_nothing(bundle: Path, tmp_path: Path) -> None:
    """It still checks everything."""
    assert unpack(bundle, tmp_path / "there", dry_run=True) == {}
    assert not (tmp_path / "there").exists()


def test_another_directory_on_another_machine(bundle: Path, tmp_path: Path) -> None:
    """The directory of the project is the one that Claude Code looks for there."""
    facts = unpack(bundle, tmp_path / "there", {"/home/mina": "/Users/mina"})
    assert f"projects/-Users-mina-pond/{SESSION}.jsonl" in facts
    assert {path.split("/")[1] for path in facts if path.startswith("projects/")} == {
        "-Users-mina-pond"
    }
    with pytest.raises(UsageError, match="No session in the bundle ran in /home/min"):
        unpack(bundle, tmp_path / "elsewhere", {"/home/min": "/Users"})


def test_nothing_is_overwritten(bundle: Path, tmp_path: Path) -> None:
    """If one file is different, none is written."""
    there = tmp_path / "there"
    (there / PROJECT).mkdir(parents=True)
    (there / TRANSCRIPT).write_bytes(b"mine")
    with pytest.raises(UsageError, match="these files already exist with different content"):
        unpack(bundle, there)
    assert list(read_facts(there)) == [TRANSCRIPT]


def test_a_bundle_is_not_overwritten(archived: ArchivedRoot, bundle: Path) -> None:
    """Neither by another one nor by the same."""
    before = bundle.read_bytes()
    with pytest.raises(UsageError, match="already exists"):
        make_bundle([find_transcript(archived, SESSION)], bundle)
    assert bundle.read_bytes() == before


def test_links_on_the_way_are_refused(bundle: Path, tmp_path: Path) -> None:
    """Nothing is written through a link."""
    there, outside = tmp_path / "there", tmp_path / "outside"
    there.mkdir()
    outside.mkdir()
    (there / "projects").symlink_to(outside)
    with pytest.raises(UsageError, match="symbolic link"):
        unpack(bundle, there)
    assert list(outside.iterdir()) == []


def test_a_shell_can_read_a_bundle(bundle: Path, tmp_path: Path) -> None:
    """Its content is a line of JSON, and then all files one after the other."""
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    command = ["zstd", "-dcq", str(bundle)]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    line, _, content = data.partition(b"\n")
    manifest = json.loads(line)
    assert (manifest["format"], manifest["redaction"]) == ("recollect-bundle/1", None)
    for file in manifest["files"]:
        part, content = content[: file["size"]], content[file["size"] :]
        assert hashlib.sha256(part).hexdigest() == file["sha256"]
    assert content == b""


@pytest.mark.slow
def test_every_flipped_bit_is_refused(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Or does not change what is unpacked: some bits of a compressed block mean nothing."""
    archived.write(TRANSCRIPT, LINE)
    path = tmp_path / "small.recollect"
    make_bundle([find_transcript(archived, SESSION)], path)
    sound, expected = path.read_bytes(), unpack(path, tmp_path / "sound")
    refused = 0
    for bit in range(len(sound) * 8):
        damaged = bytearray(sound)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            import_bundle(path, tmp_path / "sound", {}, dry_run=True, keep_times=True)
        except UnreadableInput:
            refused += 1
    assert read_facts(tmp_path / "sound") == expected
    assert refused > len(sound) * 8 * 0.95


def make_manifest() -> dict[str, Any]:
    """Return the manifest of a bundle with one file, as plain values."""
    return {
        "format": bundles.FORMAT,
        "created": "2026-11-17T00:00:00Z",
        "sessions": [{"id": SESSION, "project": "p", "cwd": None}],
        "redaction": None,
        "files": [
            {
                "path": f"projects/p/{SESSION}.jsonl",
                "session": SESSION,
                "kind": "transcript",
                "size": len(CONTENT),
                "mtime_ns": 1,
                "mode": "600",
                "sha256": hashlib.sha256(CONTENT).hexdigest(),
            }
        ],
    }


def encode(manifest: object, *frames: bytes, mark: bytes = MARK) -> bytes:
    """Return a bundle with this manifest and these frames."""
    return b"".join([mark, compress(json.dumps(manifest).encode() + b"\n"), *frames])


def change(**values: object) -> Change:
    """Return a change of the only file."""
    return lambda manifest: manifest["files"][0].update(values)


def with_path(path: str) -> Change:
    """Return a change of the only file's path, with a project that fits."""

    def apply(manifest: dict[str, Any]) -> None:
        manifest["files"][0]["path"] = path
        if path.startswith("projects/"):
            manifest["sessions"][0]["project"] = path.split("/")[1]

    return apply


def add_file(**values: object) -> Change:
    """Return a change that adds a second file."""
    return lambda manifest: manifest["files"].append({**manifest["files"][0], **values})


HOSTILE_MANIFESTS: dict[str, Change] = {
    "up": with_path("projects/../../../etc/passwd"),
    "up at the start": with_path("../projects/p/x.jsonl"),
    "up, encoded": with_path("projects/%2E%2E/x.jsonl"),
    "up, encoded separator": with_path("projects/p/..%2F..%2Fx.jsonl"),
    "absolute": with_path("/etc/cron.d/x"),
    "absolute, encoded": with_path("projects/%2Fetc/x.jsonl"),
    "drive": with_path("projects/C:/x.jsonl"),
    "network share": with_path("\\\\server\\share\\x.jsonl"),
    "backslashes": with_path("projects\\..\\..\\x.jsonl"),
    "alternate stream": with_path("projects/p/x.jsonl:evil"),
    "device": with_path("projects/p/NUL.jsonl"),
    "null byte": with_path("projects/p/x.jsonl%00.txt"),
    "line break": with_path("projects/p/x%0A.jsonl"),
    "trailing dot": with_path("projects/p./x.jsonl"),
    "empty name": with_path("projects//x.jsonl"),
    "empty path": with_path(""),
    "here": with_path("projects/./x.jsonl"),
    "too deep": with_path(f"projects/p/s/{'d/' * 30}x"),
    "too long": with_path(f"projects/p/{'x' * 300}.jsonl"),
    "very long": with_path(f"projects/p/{'x/' * 5000}x"),
    "settings": with_path("settings.json"),
    "credentials": with_path(".credentials.json"),
    "hooks": with_path("hooks/evil.sh"),
    "skills": with_path("skills/evil/SKILL.md"),
    "secret of a process": with_path("projects/p/s/x.key"),
    "typed prompts": change(path="history.jsonl", kind="history"),
    "unknown session": change(session="other"),
    "another project": change(path="projects/q/x.jsonl"),
    "program": change(mode="755"),
    "not a mode": change(mode="rwx"),
    "large mode": change(mode="1777777"),
    "negative size": change(size=-1),
    "huge size": change(size=10**15),
    "bomb": change(size=2**33),
    "enormous number": change(size=10**40),
    "time after time": change(mtime_ns=2**62),
    "negative time": change(mtime_ns=-1),
    "not a hash": change(sha256="../../x"),
    "other hash": change(sha256="0" * 64),
    "link": change(link="/etc/passwd"),
    "unknown kind": change(kind="symlink"),
    "same name twice": add_file(),
    "same name on some disks": lambda manifest: manifest["files"].extend(
        [{**manifest["files"][0], "path": path} for path in ("projects/p/S/a", "projects/p/s/A")]
    ),
    "file and directory": add_file(path=f"projects/p/{SESSION}.jsonl/x"),
    "no files": lambda manifest: manifest.update(files=[]),
    "too many files": lambda manifest: manifest.update(
        files=[{**manifest["files"][0], "size": 0}] * (bundles.MAX_FILES + 1)
    ),
    "another format": lambda manifest: manifest.update(format="recollect-bundle/2"),
    "no sessions": lambda manifest: manifest.update(sessions=[]),
    "no list": lambda manifest: manifest.update(files={"a": 1}),
}

_GOOD = compress(CONTENT)
HOSTILE_FILES: dict[str, bytes] = {
    "empty": b"",
    "text": b"hello",
    "zip": b"PK\x03\x04" + bytes(100),
    "without mark": encode(make_manifest(), _GOOD, mark=b""),
    "manifest only": encode(make_manifest()),
    "cut in the manifest": encode(make_manifest(), _GOOD)[:60],
    "cut in the content": encode(make_manifest(), _GOOD)[:-3],
    "content too short": encode(make_manifest(), compress(CONTENT[:-1])),
    "content too long": encode(make_manifest(), compress(CONTENT + b"x")),
    "another frame": encode(make_manifest(), _GOOD, _GOOD),
    "bytes after the end": encode(make_manifest(), _GOOD, b"more"),
    "half a frame after the end": encode(make_manifest(), _GOOD, _GOOD[:-2]),
    "not JSON": MARK + compress(b"{\n") + _GOOD,
    "not text": MARK + compress(b"\xff\xfe\n") + _GOOD,
    "deep JSON": MARK + compress(b"[" * 100_000 + b"\n") + _GOOD,
    "manifest without end": MARK + compress(b" " * (bundles.MAX_MANIFEST + 10)),
    "manifest that is a bomb": MARK + b"".join([compress(bytes(2**24))] * 8),
    "damaged frame": MARK + compress(b"{}\n")[:-1] + b"\x00" + _GOOD,
}


@pytest.mark.parametrize("name", HOSTILE_MANIFESTS)
def test_hostile_manifests_are_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written for a hostile manifest."""
    manifest = make_manifest()
    HOSTILE_MANIFESTS[name](manifest)
    frames = [compress(CONTENT)] * min(len(manifest["files"]), 2)
    check_refused(tmp_path, encode(manifest, *frames))


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_hostile_files_are_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written for a hostile file."""
    check_refused(tmp_path, HOSTILE_FILES[name])


def check_refused(tmp_path: Path, data: bytes) -> None:
    """Import these bytes, and assert that nothing has changed."""
    path = tmp_path / "in" / "x.recollect"
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(UnreadableInput):
        import_bundle(path, tmp_path / "in" / "out", {}, dry_run=False, keep_times=True)
    assert sorted(tmp_path.rglob("*")) == [path.parent, path]


def test_the_plain_one_is_accepted(tmp_path: Path) -> None:
    """The bundle that the hostile ones are derived from is valid."""
    path = tmp_path / "x.recollect"
    path.write_bytes(encode(make_manifest(), compress(CONTENT)))
    (facts,) = unpack(path, tmp_path / "out").values()
    assert facts == FileFacts(hashlib.sha256(CONTENT).hexdigest(), 1, 0o600)
