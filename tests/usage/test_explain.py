"""Tests of recollect.usage.explain and recollect.usage.scopes: every line has its reason."""

from datetime import date
from pathlib import Path

import pytest

from recollect.documents.usage_groups import Group
from recollect.errors import AmbiguousSession, Candidate, NothingFound
from recollect.records.token_usage import Tokens
from recollect.store.usage_queries import Measures
from recollect.usage.explain import Explanation, Line, Status, explain
from recollect.usage.ledger_access import UsageLedger, load_report
from recollect.usage.reports import UsageQuery
from recollect.usage.scopes import ScopeKind
from recollect.usage.totals import Totals
from recollect.usage.zones import load_zone
from tests.usage.transcripts import (
    FIRST,
    OPUS,
    SECOND,
    agent_path,
    count,
    reply,
    session_path,
    write_lines,
)

UTC = load_zone("UTC")
TODAY = date(2026, 11, 16)
TEN = 1_794_738_030_000
"""2026-11-15T10:20:30Z in milliseconds."""


def ask(ledger: UsageLedger, target: str, zone: str = "UTC") -> Explanation:
    """Explain a target, with the next day as today."""
    return explain(ledger, target, load_zone(zone), TODAY)


def outline(explanation: Explanation) -> list[tuple[str, int, str, str]]:
    """Return session, offset, status and note of each line, with file names instead of paths."""
    return [
        (Path(line.file).stem[:4], line.offset, line.status.value, _cut_paths(line.note))
        for line in explanation.lines
    ]


def _cut_paths(note: str) -> str:
    return " ".join(word.rpartition("/")[2] for word in note.split(" "))


def test_a_message_counts_once_however_many_lines_it_has(tmp_path: Path) -> None:
    """The line with the largest usage counts under the first offset, and the rest are repeats."""
    path = session_path(tmp_path, FIRST)
    offsets = write_lines(
        path,
        reply("m", usage={"output_tokens": 1}),
        reply("m", usage={"output_tokens": 1}),
        reply("m", usage={"output_tokens": 81}, timestamp="2026-11-15T10:20:40Z"),
    )
    explanation = ask(count(tmp_path), FIRST)
    counted = Measures(Tokens(10, 81), cost=10 * 4 + 81 * 20, time=TEN)
    assert explanation.lines == (
        Line(
            status=Status.COUNTED,
            file=str(path),
            offset=0,
            message_id="m",
            request_id="r-m",
            model=OPUS,
            measures=counted,
            note=f"usage of {offsets[2]}",
        ),
        Line(
            status=Status.REPEAT,
            file=str(path),
            offset=offsets[1],
            message_id="m",
            request_id="r-m",
            model=OPUS,
            measures=Measures(Tokens(10, 1), time=TEN),
            note="repeats 0",
        ),
        Line(
            status=Status.REPEAT,
            file=str(path),
            offset=offsets[2],
            message_id="m",
            request_id="r-m",
            model=OPUS,
            measures=Measures(Tokens(10, 81), time=TEN + 10_000),
            note="repeats 0",
        ),
    )
    assert explanation.totals == Totals(10, 81, messages=1, cost=1660)
    assert explanation.not_counted == {Status.REPEAT: 2}


def test_a_copy_names_the_line_that_counts(tmp_path: Path) -> None:
    """A resume of old clients copies messages without their request, at the time of the copy."""
    write_lines(session_path(tmp_path, FIRST), reply("m"), reply("n"))
    offsets = write_lines(
        session_path(tmp_path, SECOND),
        reply("m", requestId=None, timestamp="2026-11-16T09:00:00Z"),
        reply("n", requestId=None, timestamp="2026-11-16T09:00:00Z"),
        reply("o", timestamp="2026-11-16T09:00:00Z"),
    )
    ledger = count(tmp_path)
    first = write_lines(session_path(tmp_path, FIRST), reply("m"), reply("n"))
    explanation = ask(ledger, SECOND)
    assert outline(explanation) == [
        ("2222", 0, "copy", f"copy of {FIRST}.jsonl:0"),
        ("2222", offsets[1], "copy", f"copy of {FIRST}.jsonl:{first[1]}"),
        ("2222", offsets[2], "counted", ""),
    ]
    assert explanation.totals.messages == 1


def test_the_figures_of_a_larger_copy_count_where_the_message_belongs(tmp_path: Path) -> None:
    """The original may have placeholder usage or a later time; the note names the copy used."""
    write_lines(
        session_path(tmp_path, FIRST), reply("m", usage={"output_tokens": 1}), reply("other")
    )
    write_lines(
        session_path(tmp_path, SECOND),
        reply("m", requestId=None, timestamp="2026-11-15T10:20:29Z"),
    )
    explanation = ask(count(tmp_path), FIRST)
    place = f"{SECOND}.jsonl:0"
    assert outline(explanation)[0] == (
        "1111",
        0,
        "counted",
        f"usage of copy {place}; time of copy {place}",
    )
    assert explanation.lines[0].measures.tokens.output == 100
    assert explanation.lines[0].measures.time == TEN - 1000


def test_cache_writes_only_in_the_split_are_noted(tmp_path: Path) -> None:
    """A split without a total counts on the largest line."""
    split = {"ephemeral_5m_input_tokens": 7, "ephemeral_1h_input_tokens": 0}
    usage = {"cache_creation_input_tokens": 0, "cache_creation": split}
    write_lines(session_path(tmp_path, FIRST), reply("m", usage=usage))
    explanation = ask(count(tmp_path), FIRST)
    assert outline(explanation) == [("1111", 0, "counted", "usage with cache writes by lifetime")]
    assert explanation.totals.cache_write_5m == 7


def test_what_the_client_wrote_itself_is_listed_and_not_counted(tmp_path: Path) -> None:
    """A synthetic error message is not a model call."""
    write_lines(session_path(tmp_path, FIRST), reply("e", model="<synthetic>"), reply("m"))
    explanation = ask(count(tmp_path), FIRST)
    assert outline(explanation)[0] == ("1111", 0, "synthetic", "written by the client itself")
    assert (explanation.totals.messages, explanation.not_counted) == (1, {Status.SYNTHETIC: 1})


def test_a_session_has_its_subagents(tmp_path: Path) -> None:
    """The lines of all files of a session are listed, file by file."""
    write_lines(session_path(tmp_path, FIRST), reply("m"))
    write_lines(agent_path(tmp_path, FIRST, "abc"), reply("a", isSidechain=True))
    ledger = count(tmp_path)
    assert [line.message_id for line in ask(ledger, FIRST).lines] == ["m", "a"]
    assert [ask(ledger, name).kind for name in ("abc", "agent-abc")] == [ScopeKind.SUBAGENT] * 2
    assert [line.message_id for line in ask(ledger, "abc").lines] == ["a"]


def test_a_day_has_what_counts_on_it_and_its_copies(tmp_path: Path) -> None:
    """Copies are listed with their message, not on the day of the copy."""
    write_lines(
        session_path(tmp_path, FIRST), reply("m"), reply("n", timestamp="2026-11-16T00:30:00Z")
    )
    write_lines(
        session_path(tmp_path, SECOND),
        reply("m", requestId=None, timestamp="2026-11-20T09:00:00Z"),
        reply("e", model="<synthetic>", timestamp="2026-11-15T23:59:00Z"),
        reply("f", model="<synthetic>", timestamp="2026-11-20T23:59:00Z"),
    )
    ledger = count(tmp_path)
    statuses = {
        day: [(line.message_id, line.status.value) for line in ask(ledger, day).lines]
        for day in ("2026-11-15", "2026-11-16", "2026-11-20", "2026-11-21")
    }
    assert statuses == {
        "2026-11-15": [("m", "counted"), ("m", "copy"), ("e", "synthetic")],
        "2026-11-16": [("n", "counted")],
        "2026-11-20": [("m", "copy"), ("f", "synthetic")],
        "2026-11-21": [],
    }


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "Pacific/Auckland", "America/St_Johns"])
def test_days_are_those_of_the_zone(tmp_path: Path, zone: str) -> None:
    """The explanation of each day adds up to its row in the report."""
    times = [
        f"2026-11-{day:02}T{hour:02}:{minute}:00Z"
        for day in (14, 15)
        for hour in range(24)
        for minute in ("14", "29", "44", "59")
    ]
    records = [reply(f"m{at}", timestamp=time) for at, time in enumerate(times)]
    write_lines(session_path(tmp_path, FIRST), *records)
    ledger = count(tmp_path)
    question = UsageQuery(group=Group.DAY, zone=load_zone(zone))
    rows = load_report(ledger, question).rows
    assert {row.key: row.totals for row in rows} == {
        row.key: ask(ledger, str(row.key), zone).totals for row in rows
    }


def test_a_message_has_its_copies_in_all_files(tmp_path: Path) -> None:
    """The id of a message finds every line of it, and nothing else."""
    write_lines(
        session_path(tmp_path, FIRST), reply("m"), reply("m"), reply("e", model="<synthetic>")
    )
    write_lines(session_path(tmp_path, SECOND), reply("m", requestId=None), reply("n"))
    explanation = ask(count(tmp_path), "m")
    assert [line.status.value for line in explanation.lines] == ["counted", "repeat", "copy"]
    assert (explanation.kind, explanation.totals.messages) == (ScopeKind.MESSAGE, 1)


def test_ids_reused_by_a_proxy_are_distinguished(tmp_path: Path) -> None:
    """A copy belongs to the message with which it has most in common."""
    usage = {"input_tokens": 999}
    other = reply("m", requestId="r2", model="glm", usage=usage)
    first = write_lines(session_path(tmp_path, FIRST), reply("m"), other)
    write_lines(session_path(tmp_path, SECOND), {**other, "timestamp": "2026-11-15T10:20:31.000Z"})
    explanation = ask(count(tmp_path), "m")
    assert outline(explanation) == [
        ("1111", 0, "counted", ""),
        ("1111", first[1], "counted", ""),
        ("2222", 0, "copy", f"copy of {FIRST}.jsonl:{first[1]}"),
    ]


def test_an_unknown_price_is_not_free(tmp_path: Path) -> None:
    """A model without a price has no cost, and no price is listed for it."""
    write_lines(session_path(tmp_path, FIRST), reply("m", model="glm-9"))
    explanation = ask(count(tmp_path), FIRST)
    assert (explanation.totals.known_cost, explanation.prices) == (None, ())


def test_the_prices_are_those_of_the_day(tmp_path: Path) -> None:
    """Each price used is listed once."""
    write_lines(session_path(tmp_path, FIRST), reply("m"), reply("n"))
    (used,) = ask(count(tmp_path), FIRST).prices
    assert (used.model, str(used.price.input), str(used.price.output)) == (OPUS, "4", "20")


def test_the_client_may_have_a_figure_of_its_own(tmp_path: Path) -> None:
    """The last total in the session's own file is given next to ours."""
    write_lines(
        session_path(tmp_path, FIRST),
        reply("m"),
        {"type": "cost-state", "sessionId": FIRST, "totalCostUSD": 0.001},
        {"type": "cost-state", "sessionId": FIRST, "totalCostUSD": 0.0351},
    )
    ledger = count(tmp_path)
    client = ask(ledger, FIRST).client
    assert client is not None
    assert (client.cost, client.is_guess) == (35_100, False)
    assert ask(ledger, "2026-11-15").client is None


def test_a_deleted_file_is_explained_from_the_index(tmp_path: Path) -> None:
    """Its lines can no longer be shown, but its messages can."""
    path = session_path(tmp_path, FIRST)
    write_lines(path, reply("m"), reply("m"))
    ledger = count(tmp_path)
    path.unlink()
    explanation = ask(ledger, FIRST)
    assert outline(explanation) == [("1111", 0, "counted", "")]
    assert [file for file, _ in explanation.unread] == [str(path)]


def test_sessions_go_by_the_start_of_their_id_a_path_or_latest(tmp_path: Path) -> None:
    """Any reference to a session works."""
    path = session_path(tmp_path, FIRST)
    write_lines(path, reply("m"))
    ledger = count(tmp_path)
    names = [ask(ledger, name).name for name in (FIRST[:4], str(path), "latest", "-1")]
    assert names == [FIRST] * 4


def test_an_ambiguous_prefix_is_an_error(tmp_path: Path) -> None:
    """The matching sessions are listed with their projects and modification times."""
    ids = [f"abcd{number}" for number in range(2)]
    for name in ids:
        write_lines(session_path(tmp_path, name), reply(name))
    times = [session_path(tmp_path, name).stat().st_mtime_ns / 1e9 for name in ids]
    with pytest.raises(AmbiguousSession) as caught:
        ask(count(tmp_path), "abcd")
    assert caught.value.candidates == tuple(
        Candidate(name, None, "/w/app", time) for name, time in zip(ids, times, strict=True)
    )


def test_an_unknown_target_is_an_error(tmp_path: Path) -> None:
    """The message lists everything that was tried."""
    write_lines(session_path(tmp_path, FIRST), reply("m"))
    with pytest.raises(NothingFound) as caught:
        ask(count(tmp_path), "nonsense")
    last = str(caught.value).splitlines()[-1]
    assert last == "It is not the id of a counted message or a day such as 2026-11-15 either."


def test_a_file_outside_the_roots_is_an_error(tmp_path: Path) -> None:
    """Lines of files that were not counted cannot be explained."""
    write_lines(session_path(tmp_path / "root", FIRST), reply("m"))
    other = tmp_path / "elsewhere.jsonl"
    write_lines(other, reply("m"))
    with pytest.raises(NothingFound) as caught:
        ask(count(tmp_path / "root"), str(other))
    assert str(caught.value) == (
        f"{other} is not in any of the Claude directories that were counted. "
        "Pass its directory with --claude-dir."
    )


def test_numbered_ids_of_other_sessions_are_not_copies(tmp_path: Path) -> None:
    """Another session has its own `msg_2`, with another request and time: both count in full."""
    later = "2026-11-15T12:00:00.000Z"
    write_lines(session_path(tmp_path, FIRST), reply("msg_2"), reply("msg_2", requestId="r2"))
    write_lines(
        session_path(tmp_path, SECOND),
        reply("msg_2", requestId="r3", timestamp=later, usage={"output_tokens": 900}),
    )
    ledger = count(tmp_path)
    first, second = ask(ledger, FIRST), ask(ledger, SECOND)
    assert [line.status for line in first.lines] == [Status.COUNTED, Status.COPY]
    assert f"{FIRST}.jsonl:0" in first.lines[1].note
    assert (first.totals.output, second.totals.output) == (100, 900)


@pytest.mark.parametrize(
    "place", ["{}:2", "{}#a1b2", "http://127.0.0.1:7777/s/{}?at=a1b2#a1b2", "{}"]
)
def test_a_place_is_resolved_to_its_session(tmp_path: Path, place: str) -> None:
    """Takes a link from `search --json`, a turn of a session, or a URL of the web app."""
    write_lines(session_path(tmp_path, FIRST), reply("m"))
    explanation = ask(count(tmp_path), place.format(FIRST))
    assert (explanation.kind, explanation.name) == (ScopeKind.SESSION, FIRST)
