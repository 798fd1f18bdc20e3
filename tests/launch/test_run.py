"""Tests of recollect.launch.run: which command a run is."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import NothingFound, UsageError
from recollect.launch.resume import Resumption
from recollect.launch.run import (
    LONGEST_PROMPT,
    Run,
    RunRequest,
    check_run,
    open_kept,
    plan_run,
)

SESSION = "11111111-1111-4111-8111-111111111111"
STREAMING = ("--print", "--output-format=stream-json", "--verbose", "--include-partial-messages")


def make_resumption(directory: str = "/w", **environment: str) -> Resumption:
    """What `plan_resume` gives for a session."""
    return Resumption(
        session_id=SESSION,
        directory=directory,
        arguments=("claude", "--resume", SESSION),
        environment=environment,
    )


def test_a_plain_run_adds_nothing_but_the_stream() -> None:
    """Without options the client is told how to speak, and nothing of what it may do."""
    run = plan_run(RunRequest(prompt="drain the pond"))
    assert run == Run(arguments=("claude", *STREAMING, "--", "drain the pond"))


def test_options_are_words_of_their_own() -> None:
    """Each option is in the vector, and what was passed on stands before the end of the options."""
    run = plan_run(
        RunRequest(
            prompt="go on",
            resumption=make_resumption(CLAUDE_CONFIG_DIR="/other"),
            fork=True,
            model="opus",
            permission_mode="plan",
            passed_on=("--allowedTools", "Bash", "Read"),
        )
    )
    options = (f"--resume={SESSION}", "--model=opus", "--permission-mode=plan", "--fork-session")
    passed_on = ("--allowedTools", "Bash", "Read")
    assert run == Run(
        arguments=("claude", *STREAMING, *options, *passed_on, "--", "go on"),
        directory="/w",
        environment={"CLAUDE_CONFIG_DIR": "/other"},
    )


def test_the_last_session_can_be_gone_on_with() -> None:
    """`--continue` is passed on, and the directory stays this one."""
    run = plan_run(RunRequest(prompt="go on", goes_on=True))
    assert run == Run(arguments=("claude", *STREAMING, "--continue", "--", "go on"))


@given(st.text(min_size=1).filter(lambda text: text.strip() and "\0" not in text))
def test_a_prompt_is_never_an_option(prompt: str) -> None:
    """Whatever it looks like, it is the one word behind the end of the options."""
    request = RunRequest(prompt=prompt, model=prompt, passed_on=("--allowedTools", "Bash"))
    assert plan_run(request).arguments[1:] == (
        *STREAMING,
        f"--model={prompt}",
        "--allowedTools",
        "Bash",
        "--",
        prompt,
    )


def test_permissions_are_skipped_only_by_whom_it_was_typed() -> None:
    """The word is in the vector when it was passed on, and nothing else brings it there."""
    dangerous = "--dangerously-skip-permissions"
    typed = plan_run(RunRequest(prompt="p", passed_on=(dangerous,)))
    assert typed.arguments == ("claude", *STREAMING, dangerous, "--", "p")


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (RunRequest(prompt=" \n"), "The prompt is empty. Say what Claude Code shall do."),
        (
            RunRequest(prompt="a\0b"),
            "The prompt holds a NUL character, which no argument can hold.",
        ),
        (
            RunRequest(prompt="x" * (LONGEST_PROMPT + 1)),
            (
                "The prompt is longer than 100,000 bytes. Put it into a file, and ask for that "
                "file to be read."
            ),
        ),
        (
            RunRequest(prompt="p", goes_on=True, resumption=make_resumption()),
            "Give --resume or --continue: each says which session to go on with.",
        ),
        (
            RunRequest(prompt="p", fork=True),
            "--fork needs --resume or --continue: it says what to make a copy of.",
        ),
        (
            RunRequest(prompt="p", passed_on=("--output-format=text",)),
            "--output-format cannot be passed on: it would change what is read here.",
        ),
        (
            RunRequest(prompt="p", passed_on=("--input-format", "stream-json")),
            "--input-format cannot be passed on: it would change what is read here.",
        ),
        (
            RunRequest(prompt="p", passed_on=("--", "another prompt")),
            "-- cannot be passed on: it would change what is read here.",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(request_: RunRequest, reason: str) -> None:
    """A request that contradicts itself is an error that says what to do."""
    with pytest.raises(UsageError) as caught:
        plan_run(request_)
    assert str(caught.value) == reason


def test_a_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    """A session cannot be gone on with where it was if that place is gone."""
    run = plan_run(RunRequest(prompt="p", resumption=make_resumption(str(tmp_path / "gone"))))
    with pytest.raises(NothingFound) as caught:
        check_run(run)
    assert str(caught.value).splitlines()[0] == (
        f"The directory of the session is gone: {tmp_path / 'gone'}"
    )


def test_a_client_that_is_not_there_is_told(tmp_path: Path) -> None:
    """The reason is the PATH."""
    with pytest.raises(NothingFound) as caught:
        check_run(Run(arguments=("claude",)), {"PATH": str(tmp_path)})
    assert str(caught.value) == "`claude` is not on the PATH. Install Claude Code."


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
def test_a_kept_stream_is_for_its_owner_only(tmp_path: Path) -> None:
    """The file is created 0600."""
    path = tmp_path / "kept.jsonl"
    os.close(open_kept(path))
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that exists is refused and stays as it is."""
    path = tmp_path / "kept.jsonl"
    path.write_text("mine")
    with pytest.raises(UsageError) as caught:
        open_kept(path)
    assert str(caught.value) == f"{path} is there already. Name a file that is not."
    assert path.read_text() == "mine"
