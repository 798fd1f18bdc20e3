"""The backups of a Claude directory: which of several with the same name is meant."""

import os
from datetime import datetime
from pathlib import Path

import pytest

from recollect.versions.recorded_evidence import BackupDirectory

NAME = "40d55af602bb23ac@v2"
MADE = "2026-11-18T07:16:32.587Z"
OWN, ORIGINAL, UNRELATED = "5e551011", "0419111a", "00000001"


def _save(root: Path, session: str, data: bytes, made: str) -> None:
    path = root / "file-history" / session / NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    seconds = datetime.fromisoformat(made).timestamp()
    os.utime(path, (seconds, seconds))


def test_a_backup_of_another_session_must_be_from_the_time_of_the_record(tmp_path: Path) -> None:
    """A fork has no copies of earlier backups; other sessions have theirs under the same name."""
    _save(tmp_path, UNRELATED, b"unrelated\n", "2026-11-18T07:14:26.446Z")
    _save(tmp_path, ORIGINAL, b"right\n", "2026-11-18T07:16:32.581Z")
    backups = BackupDirectory(tmp_path)
    assert backups.read(OWN, NAME, MADE) == b"right\n"
    assert backups.read(OWN, NAME, "2026-11-18T09:00:00.000Z") is None
    assert backups.read(OWN, NAME) is None


@pytest.mark.parametrize("time", [None, MADE, "yesterday"])
def test_the_own_backup_of_a_session_is_taken_whatever_its_time(
    tmp_path: Path, time: str | None
) -> None:
    """Copying a Claude directory may change the times of its files."""
    _save(tmp_path, OWN, b"own\n", "2020-01-01T00:00:00.000Z")
    _save(tmp_path, ORIGINAL, b"other\n", "2026-11-18T07:16:32.581Z")
    assert BackupDirectory(tmp_path).read(OWN, NAME, time) == b"own\n"
