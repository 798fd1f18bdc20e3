"""Fixtures for tests of workspaces."""

from pathlib import Path

import pytest

from tests.redact.made_up_secrets import OWN_RULES


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with a Claude directory."""
    root = tmp_path / "home" / ".claude"
    root.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(root.parent))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RECOLLECT_NOW", "2026-11-13T12:00:00Z")
    return root


@pytest.fixture
def own_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A config file with a kind of secrets that only the user knows."""
    config = tmp_path / "config.toml"
    config.write_text(OWN_RULES)
    monkeypatch.setenv("RECOLLECT_CONFIG", str(config))
    return config
