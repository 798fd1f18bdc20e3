"""The bytes of an export contain no planted secret, however it is written in the session."""

import re
from pathlib import Path
from random import Random

import pytest

from recollect.errors import UsageError
from recollect.export import ExportOptions, Format, Level, Table
from recollect.export.export_content import SessionPart
from recollect.export.exporter import Exporter, name_file
from recollect.library.opening import open_session
from recollect.redact.findings import OwnPattern, RedactionPolicy
from recollect.redact.own_rules import use_own_rules
from recollect.session.session import Session
from tests.export.sessions import (
    answer,
    call,
    export,
    export_masked,
    plant,
    reply,
    say,
    write_session,
)
from tests.redact.labelled_set import is_readable
from tests.redact.made_up_secrets import FAMILIES

SINGLE_LINE = [
    family for family in FAMILIES.values() if family.recognisable and not family.multiline
]
CASES = {
    "html": ExportOptions(format=Format.HTML),
    "html conversation": ExportOptions(format=Format.HTML, level=Level.CONVERSATION),
    "markdown": ExportOptions(format=Format.MARKDOWN),
    "markdown tools": ExportOptions(format=Format.MARKDOWN, level=Level.TOOLS),
    "markdown prompts": ExportOptions(format=Format.MARKDOWN, level=Level.PROMPTS),
    "digest": ExportOptions(format=Format.MARKDOWN, budget=2_000),
    "text": ExportOptions(format=Format.TEXT),
    "text tools": ExportOptions(format=Format.TEXT, level=Level.TOOLS),
    "json": ExportOptions(format=Format.JSON),
    "csv messages": ExportOptions(format=Format.CSV, table=Table.MESSAGES),
    "csv calls": ExportOptions(format=Format.CSV, table=Table.CALLS),
    "csv usage": ExportOptions(format=Format.CSV, table=Table.USAGE),
}


def write_planted(tmp_path: Path, family_name: str) -> tuple[Path, str]:
    """Write a session with a made-up secret of a family in every field, and return both."""
    family = FAMILIES[family_name]
    made = family.make(Random(family_name))
    return write_session(tmp_path, plant(made.text, f"{family.key}=")), made.secrets[0]


def open_planted(tmp_path: Path, family_name: str) -> tuple[Session, str]:
    """Open a session with a made-up secret of a family in every field, and return both."""
    path, secret = write_planted(tmp_path, family_name)
    return open_session(path), secret


@pytest.mark.parametrize("is_masked", [True, False])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("family", ["aws-secret", "github", "anthropic", "slack-bot"])
def test_no_secret_is_in_the_final_bytes(
    tmp_path: Path, family: str, case: str, *, is_masked: bool
) -> None:
    """In six encodings and in every field, at every level of every format.

    Whether records are masked while they are read, as the program does it, or views are.
    """
    path, secret = write_planted(tmp_path, family)
    options = CASES[case]
    written = export_masked(path, options) if is_masked else export(open_session(path), options)
    assert not is_readable(_without_markup(written), (secret,))
    assert not is_readable(written, (secret,))
    assert ("[redacted:" in written) == (case != "csv usage")


def _without_markup(text: str) -> str:
    """Return what a reader of a page sees: highlighting may cut a value into pieces."""
    return re.sub(r"<[^<>]+>", "", text)


@pytest.mark.slow
@pytest.mark.parametrize("family", [family.name for family in SINGLE_LINE])
def test_no_secret_of_any_family_is_in_a_page_or_a_document(tmp_path: Path, family: str) -> None:
    """Every recognisable family, in the two formats that people share."""
    path, secret = write_planted(tmp_path, family)
    for kind in (Format.HTML, Format.MARKDOWN, Format.JSON):
        assert not is_readable(export_masked(path, ExportOptions(format=kind)), (secret,)), kind


def test_parquet_is_masked_cell_by_cell(tmp_path: Path) -> None:
    """A compressed file cannot be scanned, so its cells are."""
    parquet = pytest.importorskip("pyarrow.parquet")
    session, secret = open_planted(tmp_path, "github")
    Exporter(ExportOptions(format=Format.PARQUET)).write(SessionPart(session), tmp_path / "tables")
    for path in sorted((tmp_path / "tables").iterdir()):
        cells = str(parquet.read_table(path).to_pylist())
        assert not is_readable(cells, (secret,)), path.name


def test_a_secret_of_another_turn_is_masked(tmp_path: Path) -> None:
    """The text that identifies a secret need not be exported itself."""
    family = FAMILIES["aws-secret"]
    secret = family.make(Random(1)).secrets[0]
    path = write_session(tmp_path, [say(f"what is {secret}?"), say(f"{family.key}={secret}")])
    written = export(open_session(path), ExportOptions(format=Format.MARKDOWN), (0,))
    assert not is_readable(written, (secret,))


def test_a_secret_in_an_id_is_found_by_the_second_scan(tmp_path: Path) -> None:
    """Ids are not masked as text, but are part of the bytes."""
    secret = FAMILIES["github"].make(Random(2)).secrets[0]
    path = write_session(tmp_path, [{**say("hello"), "uuid": secret}])
    for kind in (Format.HTML, Format.JSON, Format.CSV):
        assert not is_readable(export(open_session(path), ExportOptions(format=kind)), (secret,))


def test_what_was_masked_is_reported_by_kind(tmp_path: Path) -> None:
    """Each occurrence in the export counts once, however often it was scanned."""
    secret = FAMILIES["github"].make(Random(3)).secrets[0]
    path = write_session(tmp_path, [say(f"token {secret} and again {secret}")])
    exporter = Exporter(ExportOptions(format=Format.MARKDOWN))
    text = b"".join(exporter.stream(SessionPart(open_session(path)))).decode()
    report = exporter.report()
    # The prompt is the title as well, which is in the front matter and the heading.
    assert {each.kind: each.count for each in report.masked} == {"github-token": 6}
    assert text.count("redacted:github-token#1") == 6
    assert report.is_redacted


@pytest.mark.parametrize("kind", [Format.TEXT, Format.MARKDOWN, Format.HTML, Format.JSON])
def test_words_that_are_cut_by_wrapping_are_no_secrets(tmp_path: Path, kind: Format) -> None:
    """Parts of wrapped ids are not masked; a wrapped tag still counts."""
    secret = FAMILIES["github"].make(Random(4)).secrets[0]
    words = '"id":"toolu_01Q5Pp5XLpByGRUUXGeWwNmJ" 5cca5fa8-f0e8-4fc1-b0b6-c9d074e38595'
    lines = "\n".join(f"{'-' * width}{words} {secret}" for width in range(100))
    path = write_session(
        tmp_path, [say("go on"), reply(call("t1", "Bash", command="cat log")), answer("t1", lines)]
    )
    exporter = Exporter(ExportOptions(format=kind))
    session = exporter.open_masked(lambda: open_session(path))
    text = b"".join(exporter.stream(SessionPart(session, is_masked=True))).decode()
    assert [(each.kind, each.count) for each in exporter.report().masked] == [("github-token", 100)]
    assert not is_readable(text, (secret,))


def test_nothing_is_masked_without_a_policy(tmp_path: Path) -> None:
    """With --no-redact everything is exported."""
    session, secret = open_planted(tmp_path, "aws-secret")
    exporter = Exporter(ExportOptions(format=Format.MARKDOWN, redaction=None))
    text = b"".join(exporter.stream(SessionPart(session))).decode()
    assert secret in text
    assert (exporter.report().is_redacted, exporter.report().masked) == (False, ())


def test_names_of_files_are_masked_without_a_policy(tmp_path: Path) -> None:
    """They are listed and logged. Secrets of the user's own kinds are masked too."""
    path = write_session(tmp_path, [say("use acme-1234")])
    policy = RedactionPolicy(patterns=(OwnPattern("acme-key", r"acme-\d+"),))
    use_own_rules(lambda: policy)
    options = ExportOptions(format=Format.MARKDOWN, redaction=None)
    name = name_file(open_session(path).metadata, options)
    assert "-use-redacted-acme-key-1-" in name


def test_names_of_files_are_masked_after_a_review(tmp_path: Path) -> None:
    """What is to stay in the file need not be in its name."""
    secret = FAMILIES["github"].make(Random(1)).secrets[0]
    path = write_session(tmp_path, [say(f"use {secret}")])
    options = ExportOptions(format=Format.MARKDOWN, redaction=RedactionPolicy(allow=(secret,)))
    assert secret in export(open_session(path), options)
    name = name_file(open_session(path).metadata, options)
    assert "-use-redacted-github-token-1-" in name


def test_raw_lines_are_only_exported_without_redaction() -> None:
    """They cannot be masked, so --no-redact is required."""
    with pytest.raises(UsageError, match="--no-redact"):
        Exporter(ExportOptions(format=Format.JSONL))


def test_a_policy_masks_what_it_names(tmp_path: Path) -> None:
    """Own patterns, the home directory and e-mail addresses."""
    path = write_session(tmp_path, [say("ACME-1234 by mina@example.org in /home/mina/projects/x")])
    policy = RedactionPolicy(
        home="/home/mina", emails=True, patterns=(OwnPattern("acme-key", r"ACME-\d+"),)
    )
    written = export(open_session(path), ExportOptions(format=Format.MARKDOWN, redaction=policy))
    assert "> [redacted:acme-key#1] by [redacted:email#1] in ~/projects/x" in written
    assert 'project: "~/projects/vault"' in written
