"""Reports of the client in `system` records."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from recollect.session.client_reports import (
    FailedRequest,
    ModelChange,
    Notice,
    Recap,
    Reports,
    build_reports,
)
from tests.session.recordings import NOON, make_log, read_scenario


def reports_of(*lines: Mapping[str, object]) -> Reports:
    """Return the reports in these `system` lines."""
    envelope = {"type": "system", "uuid": "a", "timestamp": NOON}
    log = make_log(*({**envelope, "uuid": str(n), **line} for n, line in enumerate(lines)))
    return build_reports(log.chain)


def test_notices_keep_their_subtype() -> None:
    """Client messages are notices, even of unknown kinds and old clients."""

    def notice(uuid: str, subtype: str | None, text: str, level: str | None = None) -> Notice:
        return Notice(subtype=subtype, text=text, level=level, uuid=uuid, timestamp=NOON)

    assert reports_of(
        {"subtype": "informational", "content": "Noted", "level": "notice"},
        {"subtype": "local_command", "content": "<command-name>/cost</command-name>"},
        {"content": "Running hook", "level": "info", "toolUseID": "t1"},
        {"subtype": "of_tomorrow", "content": "New"},
        {"subtype": "memory_saved", "writtenPaths": ["/m/a.md", "/m/b.md"]},
        {"subtype": "agents_killed"},
    ) == Reports(
        notices=(
            notice("0", "informational", "Noted", "notice"),
            notice("1", "local_command", "<command-name>/cost</command-name>"),
            notice("2", None, "Running hook", "info"),
            notice("3", "of_tomorrow", "New"),
            notice("4", "memory_saved", "/m/a.md\n/m/b.md"),
            notice("5", "agents_killed", ""),
        )
    )


def test_what_has_a_view_of_its_own_is_no_notice() -> None:
    """Compactions, turn durations and hook summaries are reported elsewhere."""
    subtypes = ("compact_boundary", "microcompact_boundary", "turn_duration", "stop_hook_summary")
    assert reports_of(*({"subtype": subtype} for subtype in subtypes)) == Reports()


def test_a_recap_is_for_those_who_were_away() -> None:
    """An away summary has its text."""
    assert reports_of({"subtype": "away_summary", "content": "Two tests fixed."}) == Reports(
        away_summaries=(Recap(text="Two tests fixed.", uuid="0", timestamp=NOON),)
    )


@pytest.mark.parametrize(
    ("fields", "message", "status"),
    [
        (
            {"error": {"message": "529 {…}", "formatted": "529 Overloaded", "status": 529}},
            "529 Overloaded",
            529,
        ),
        ({"error": {"message": "Connection error."}}, "Connection error.", None),
        (
            {"error": {"status": 429, "error": {"error": {"type": "r", "message": "Slow down"}}}},
            "Slow down",
            429,
        ),
        ({"error": {"status": 400, "error": {"message": "Bad"}}}, "Bad", 400),
        ({"error": {"cause": {"code": "ECONNRESET", "errno": 0}}}, "ECONNRESET", None),
        ({"error": {}, "cause": {"code": "FailedToOpenSocket"}}, "FailedToOpenSocket", None),
        ({"error": {}}, "", None),
        ({"error": "odd"}, "", None),
        ({}, "", None),
    ],
)
def test_a_failed_request_says_why(
    fields: dict[str, object], message: str, status: int | None
) -> None:
    """The reason is in the error objects of all clients, except some that wrote none."""
    assert reports_of(
        {"subtype": "api_error", "retryAttempt": 2, "maxRetries": 10, "retryInMs": 1.5, **fields}
    ) == Reports(
        api_errors=(
            FailedRequest(
                message=message,
                status=status,
                retry_attempt=2,
                max_retries=10,
                retry_in_ms=1.5,
                uuid="0",
                timestamp=NOON,
            ),
        )
    )


def test_another_model_takes_over() -> None:
    """Fallbacks and refusals name both models and the reason."""
    models = {"originalModel": "m1", "fallbackModel": "m2"}
    assert reports_of(
        {"subtype": "model_fallback", "trigger": "overloaded", "content": "Switched", **models},
        {"subtype": "model_refusal_no_fallback", "originalModel": "m1", "category": "safety"},
    ) == Reports(
        model_changes=(
            ModelChange(
                subtype="model_fallback",
                original="m1",
                fallback="m2",
                trigger="overloaded",
                text="Switched",
                uuid="0",
                timestamp=NOON,
            ),
            ModelChange(
                subtype="model_refusal_no_fallback",
                original="m1",
                fallback=None,
                trigger="safety",
                text="",
                uuid="1",
                timestamp=NOON,
            ),
        )
    )


def test_overloaded_scenario(shared: Path) -> None:
    """A request to an overloaded API was retried, each time with the status."""
    reports = build_reports(read_scenario(shared, "2.1.325", "overloaded").chain)
    assert {(error.message, error.status) for error in reports.api_errors} == {
        ("529 Overloaded", 529)
    }
    attempts = [error.retry_attempt for error in reports.api_errors]
    assert attempts == list(range(1, len(attempts) + 1))
