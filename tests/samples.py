"""The small transcripts under `tests/transcripts`, by name."""

from pathlib import Path

TRANSCRIPTS = Path(__file__).resolve().parent / "transcripts"


def transcript(name: str) -> Path:
    """Return the path of the transcript of that name."""
    return TRANSCRIPTS / f"{name}.jsonl"


def every_transcript() -> list[Path]:
    """Return all transcripts in a fixed order."""
    return sorted(TRANSCRIPTS.rglob("*.jsonl"))
