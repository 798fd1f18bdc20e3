"""The small transcripts under `tests/transcripts`, by name."""

from pathlib import Path

TRANSCRIPTS = Path(__file__).resolve().parent / "transcripts"


def transcript(name: str) -> Path:
    """The path of the transcript that shows the phenomenon `name`."""
    return TRANSCRIPTS / f"{name}.jsonl"


def every_transcript() -> list[Path]:
    """All of them, in a fixed order."""
    return sorted(TRANSCRIPTS.rglob("*.jsonl"))
