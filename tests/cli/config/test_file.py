"""Tests of recollect.workspace.config_file and config.defaults."""

from pathlib import Path

import pytest

from recollect.cli.command_workspace import command_workspace
from recollect.cli.program import Defaults, load_defaults
from recollect.errors import UsageError
from recollect.redact.findings import OwnPattern, RedactionPolicy
from recollect.workspace.config_file import (
    NAME,
    SETTINGS,
    ConfigValue,
    find_path,
    load_config_values,
    load_policy,
)

FULL = """\
# mine
roots = ["~/.claude", "/mnt/old"]

timezone = "Europe/Berlin"
prices = "/etc/prices.toml"

[redact]
home = true
users = ["mina"]
hosts = ["reef.local"]
emails = true
allow = ["sk-test-[a-z]+"]

[redact.patterns]
acme-key = "acme_[a-z0-9]{20}"
"""
VALID = (
    "roots, timezone, prices, archive_identity, redact.home, redact.users, redact.hosts, "
    "redact.emails, redact.patterns, redact.allow"
)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the environment specifies."""
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("RECOLLECT_CONFIG", str(path))
    monkeypatch.setenv("HOME", "/home/mina")
    return path


def refuse(path: Path, text: str) -> str:
    """Return the message about an invalid file, without its path."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_config_values()
    return str(caught.value).replace(str(path), "FILE")


def test_every_setting_can_be_made(config: Path) -> None:
    """Values come with their line numbers, and `~` is the home directory."""
    config.write_text(FULL, encoding="utf-8")
    assert load_config_values() == {
        "roots": ConfigValue(("/home/mina/.claude", "/mnt/old"), 2),
        "timezone": ConfigValue("Europe/Berlin", 4),
        "prices": ConfigValue("/etc/prices.toml", 5),
        "redact.home": ConfigValue("true", 8),
        "redact.users": ConfigValue(("mina",), 9),
        "redact.hosts": ConfigValue(("reef.local",), 10),
        "redact.emails": ConfigValue("true", 11),
        "redact.allow": ConfigValue(("sk-test-[a-z]+",), 12),
        "redact.patterns": ConfigValue(("acme-key=acme_[a-z0-9]{20}",), 14),
    }


def test_the_settings_make_a_policy(config: Path) -> None:
    """Exports mask what the config file specifies."""
    config.write_text(FULL, encoding="utf-8")
    assert load_policy() == RedactionPolicy(
        home="/home/mina",
        users=("mina",),
        hosts=("reef.local",),
        emails=True,
        patterns=(OwnPattern("acme-key", "acme_[a-z0-9]{20}"),),
        allow=("sk-test-[a-z]+",),
    )


def test_without_a_file_the_policy_is_the_default(tmp_path: Path) -> None:
    """All secrets, no personal data."""
    assert load_policy({"XDG_CONFIG_HOME": str(tmp_path)}) == RedactionPolicy()


def test_a_workspace_has_the_policy(config: Path, tmp_path: Path) -> None:
    """Commands and exports get it from the workspace."""
    config.write_text("[redact]\nemails = true\n", encoding="utf-8")
    with command_workspace((tmp_path,)) as workspace:
        assert workspace.redaction == RedactionPolicy(emails=True)


def test_the_file_is_in_the_directory_for_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the environment sets a path, it is in the system's directory for configuration."""
    monkeypatch.setattr("sys.platform", "linux")
    assert find_path({"XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "recollect" / NAME
    assert find_path({"RECOLLECT_CONFIG": str(tmp_path / "x")}) == tmp_path / "x"


def test_no_file_is_no_setting(tmp_path: Path) -> None:
    """The file is optional."""
    assert load_config_values({"XDG_CONFIG_HOME": str(tmp_path)}) == {}


def test_a_file_that_was_named_has_to_be_there(config: Path) -> None:
    """A typo in the variable must not count as having no settings."""
    with pytest.raises(UsageError) as caught:
        load_config_values()
    message = f"RECOLLECT_CONFIG: {config} does not exist."
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '\n\nrots = ["/x"]\n',
            "FILE, line 3: Unknown setting `rots`. Valid settings: " + VALID + ".",
        ),
        (
            'timezone = "UTC"\n[usage]\nunit = "x"\n',
            "FILE, line 2: Unknown setting `usage`. Valid settings: " + VALID + ".",
        ),
        (
            'roots = "/x"\n',
            'FILE, line 1: `roots`: expected a list of directories, such as ["~/.claude"].',
        ),
        (
            "roots = []\n",
            'FILE, line 1: `roots`: expected a list of directories, such as ["~/.claude"].',
        ),
        ('roots = ["x"]\n', "FILE, line 1: `roots`: x is a relative path; start it with / or ~."),
        (
            "prices = 5\n",
            'FILE, line 1: `prices`: expected a quoted path, such as "~/prices.toml".',
        ),
        (
            "\ntimezone = 1\n",
            'FILE, line 2: `timezone`: expected a quoted name, such as "Europe/Berlin".',
        ),
        (
            'timezone = "Mars"\n',
            (
                "FILE, line 1: `timezone`: Unknown time zone 'Mars'. Use a name such as "
                "Europe/Berlin, UTC or local."
            ),
        ),
        (
            "redaction = true\n",
            "FILE, line 1: Unknown setting `redaction`. Valid settings: " + VALID + ".",
        ),
        ("[redact]\n\nhome = 1\n", "FILE, line 3: `redact.home`: expected true or false."),
        (
            '[redact]\nusers = "mina"\n',
            'FILE, line 2: `redact.users`: expected a list of names, such as ["mara"].',
        ),
        (
            'redact.allow = ["("]\n',
            "FILE, line 1: `redact.allow`: '(' is not a valid regular expression: missing ): (.",
        ),
        (
            "[redact.patterns]\nAcme = 'x'\n",
            (
                "FILE, line 1: `redact.patterns`: expected a table of regular expressions by "
                'kind, such as { acme-key = "acme_[a-z0-9]{20}" }.'
            ),
        ),
        (
            "[redact]\nmail = true\n",
            "FILE, line 2: Unknown setting `redact.mail`. Valid settings: " + VALID + ".",
        ),
        ("roots = [\n", "FILE is not valid TOML: Invalid value (at end of document)."),
    ],
)
def test_invalid_settings_are_reported_with_their_line(
    config: Path, text: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Unknown keys, wrong types and invalid TOML are errors with a line number, on one line."""
    assert refuse(config, text) == message
    assert capfd.readouterr().err == ""


def test_invalid_text_is_reported(config: Path) -> None:
    """Bytes that are not UTF-8 are an error."""
    config.write_bytes(b"timezone = '\xff'")
    with pytest.raises(UsageError) as caught:
        load_config_values()
    assert str(caught.value) == f"{config} is not valid UTF-8."


def test_defaults_are_those_of_parameters(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings become defaults of their options."""
    config.write_text(FULL, encoding="utf-8")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert load_defaults() == {
        "claude_dirs": ("/home/mina/.claude", "/mnt/old"),
        "timezone": "Europe/Berlin",
        "prices": "/etc/prices.toml",
    }


def test_the_environment_wins_over_the_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Directories that the environment names are not replaced by those of the file."""
    config.write_text('roots = ["/x"]\n', encoding="utf-8")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/y")
    assert load_defaults() == {}


def test_the_file_is_read_for_commands_only(config: Path) -> None:
    """Neither the help nor an unknown command needs it."""
    config.write_text("nonsense", encoding="utf-8")
    defaults = Defaults({"usage"})
    assert defaults.get("help") is None
    with pytest.raises(UsageError):
        defaults.get("usage")


def test_every_setting_says_what_it_means() -> None:
    """Every setting has a description."""
    assert [name for name, setting in SETTINGS.items() if not setting.meaning] == []
