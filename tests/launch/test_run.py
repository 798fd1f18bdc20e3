"""Tests of recollect.launch.client_commands: the command of a run."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import NothingFound, UsageError
from recollect.launch.client_commands import (
    MAX_PROMPT_LENGTH,
    Resumption,
    Run,
    RunRequest,
    check_run,
    create_private_file,
    plan_run,
)

SESSION = "11111111-1111-4111-8111-111111111111"
STREAMING = ("--print", "--output-format=stream-json", "--verbose", "--include-partial-messages")


def make_resumption(directory: str = "/w", **environment: str) -> Resumption:
    """Return what `plan_resume` returns for a session."""
    return Resumption(
        session_id=SESSION,
        directory=directory,
        arguments=("claude", "--resume", SESSION),
        environment=environment,
    )


def test_a_plain_run_adds_nothing_but_the_stream() -> None:
    """Without options only the output format is set, and no permissions."""
    run = plan_run(RunRequest(prompt="drain the pond"))
    assert run == Run(arguments=("claude", *STREAMING, "--", "drain the pond"))


def test_options_are_separate_arguments() -> None:
    """Each option is an argument, and extra arguments come before the end of options."""
    run = plan_run(
        RunRequest(
            prompt="go on",
            resumption=make_resumption(CLAUDE_CONFIG_DIR="/other"),
            fork=True,
            model="opus",
            permission_mode="plan",
            extra_arguments=("--allowedTools", "Bash", "Read"),
        )
    )
    options = (f"--resume={SESSION}", "--model=opus", "--permission-mode=plan", "--fork-session")
    extra_arguments = ("--allowedTools", "Bash", "Read")
    assert run == Run(
        arguments=("claude", *STREAMING, *options, *extra_arguments, "--", "go on"),
        directory="/w",
        environment={"CLAUDE_CONFIG_DIR": "/other"},
    )


def test_the_last_session_can_be_continued() -> None:
    """`--continue` is passed on, and the directory stays the current one."""
    run = plan_run(RunRequest(prompt="go on", continue_last=True))
    assert run == Run(arguments=("claude", *STREAMING, "--continue", "--", "go on"))


@given(st.text(min_size=1).filter(lambda text: text.strip() and "\0" not in text))
def test_a_prompt_is_never_an_option(prompt: str) -> None:
    """Whatever its text, the prompt is the only argument after the end of options."""
    request = RunRequest(prompt=prompt, model=prompt, extra_arguments=("--allowedTools", "Bash"))
    assert plan_run(request).arguments[1:] == (
        *STREAMING,
        f"--model={prompt}",
        "--allowedTools",
        "Bash",
        "--",
        prompt,
    )


def test_permissions_are_skipped_only_if_requested() -> None:
    """The option is an argument only if the user passed it."""
    dangerous = "--dangerously-skip-permissions"
    typed = plan_run(RunRequest(prompt="p", extra_arguments=(dangerous,)))
    assert typed.arguments == ("claude", *STREAMING, dangerous, "--", "p")


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (RunRequest(prompt=" \n"), "The prompt is empty. Say what Claude Code should do."),
        (
            RunRequest(prompt="a\0b"),
            "The prompt contains a NUL character, which cannot be passed to a program.",
        ),
        (
            RunRequest(prompt="x" * (MAX_PROMPT_LENGTH + 1)),
            (
                "The prompt is longer than 100,000 bytes. Put it into a file, and ask Claude "
                "to read that file."
            ),
        ),
        (
            RunRequest(prompt="p", continue_last=True, resumption=make_resumption()),
            "Use either --resume or --continue, not both.",
        ),
        (
            RunRequest(prompt="p", fork=True),
            "--fork needs --resume or --continue, to know which session to copy.",
        ),
        (
            RunRequest(prompt="p", extra_arguments=("--output-format=text",)),
            "--output-format cannot be passed to claude: it would change its output.",
        ),
        (
            RunRequest(prompt="p", extra_arguments=("--input-format", "stream-json")),
            "--input-format cannot be passed to claude: it would change its output.",
        ),
        (
            RunRequest(prompt="p", extra_arguments=("--", "another prompt")),
            "-- cannot be passed to claude: it would change its output.",
        ),
    ],
)
def test_an_invalid_request_is_refused(request_: RunRequest, reason: str) -> None:
    """The error says what to do."""
    with pytest.raises(UsageError) as caught:
        plan_run(request_)
    assert str(caught.value) == reason


def test_a_deleted_directory_is_reported(tmp_path: Path) -> None:
    """A session cannot be resumed in a directory that no longer exists."""
    run = plan_run(RunRequest(prompt="p", resumption=make_resumption(str(tmp_path / "gone"))))
    with pytest.raises(NothingFound) as caught:
        check_run(run)
    assert str(caught.value).splitlines()[0] == (
        f"The directory of the session no longer exists: {tmp_path / 'gone'}"
    )


def test_a_missing_client_is_reported(tmp_path: Path) -> None:
    """The reason names the PATH."""
    with pytest.raises(NothingFound) as caught:
        check_run(Run(arguments=("claude",)), {"PATH": str(tmp_path)})
    assert str(caught.value) == "`claude` is not on the PATH. Install Claude Code."


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
def test_a_saved_stream_is_private(tmp_path: Path) -> None:
    """The file is created 0600."""
    path = tmp_path / "kept.jsonl"
    os.close(create_private_file(path))
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """An existing file is refused and left unchanged."""
    path = tmp_path / "kept.jsonl"
    path.write_text("mine")
    with pytest.raises(UsageError) as caught:
        create_private_file(path)
    assert str(caught.value) == f"{path} already exists. Choose another name."
    assert path.read_text() == "mine"
