"""The records of a session, in separate lists."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from recollect.records.conversation_records import Assistant, User
from recollect.records.envelope import Blank, Damaged, Oversized, Record, Torn, Unknown
from recollect.records.state import LastPrompt, Mode, Summary
from recollect.session.session_records import NIL_UUID, Log
from tests.session.chains import attachment, progress, reply, system, user


def log_of(*records: Record) -> Log:
    """Return a log with these records, added at once."""
    log = Log()
    log.extend(records)
    return log


def contents_of(log: Log) -> tuple[object, ...]:
    """Return everything in a log."""
    return (
        log.record_count,
        log.chain,
        log.superseded,
        log.sidechain,
        log.states,
        log.irregular,
        log.starts_in_sidechain,
        log.rewound_to_start,
    )


def test_an_empty_file_is_an_empty_log() -> None:
    """Without records not even the session is known."""
    assert contents_of(Log()) == (0, [], [], [], [], [], None, False)


def test_a_file_with_a_title_only_has_no_conversation() -> None:
    """A transcript with only summaries consists of state records."""
    title = Summary(summary="A title", leaf_uuid="elsewhere")
    assert contents_of(log_of(title)) == (1, [], [], [], [title], [], None, False)


def test_every_record_has_its_list() -> None:
    """Links, state and irregular records are in separate lists, each in file order."""
    links = [
        user("a"),
        attachment("b", "date", "a"),
        progress("c", "hook_progress", "b"),
        system("d", "informational", "c"),
        reply("e", "hello", parent="d"),
    ]
    mode = Mode(mode="normal")
    broken = [Damaged(reason="no JSON"), Oversized(), Torn()]
    log = log_of(mode, *links, Blank(), *broken)
    assert contents_of(log) == (10, links, [], [], [mode], broken, False, False)


def test_an_unknown_record_with_a_uuid_is_a_link() -> None:
    """A record of a newer client keeps its position in the chain, and is reported as unknown."""
    link = Unknown(uuid="n", parent_uuid="a", record_type="novel")
    other = Unknown(record_type="novel", raw=Raw(b"{}"))
    log = log_of(user("a"), link, other)
    assert log.chain == [user("a"), link]
    assert log.irregular == [link, other]


def test_links_without_uuid_are_kept() -> None:
    """A record that lost its uuid is still part of the conversation, even if repeated."""
    nameless = user("")
    assert log_of(nameless, nameless).chain == [nameless, nameless]


def test_a_repeated_uuid_has_its_last_content_in_its_first_place() -> None:
    """The later line counts, at the position of the first."""
    first = reply("b", "half", message={"usage": {"output_tokens": 81}})
    again = reply("b", "half and whole", message={"usage": {"output_tokens": 0}})
    log = log_of(user("a"), first, user("c"), user("a", isMeta=True), again)
    assert log.chain == [user("a", isMeta=True), again, user("c")]
    assert log.superseded == [first]


def test_a_repeated_uuid_with_other_words_is_another_line() -> None:
    """Its text is kept under another name; children of the uuid follow the last line."""
    log = log_of(user("a", "one"), reply("b", parent="a"), user("a", "two"), reply("c", parent="a"))
    assert [(link.uuid, link.parent_uuid) for link in log.chain] == [
        ("a", None),
        ("b", "a"),
        ("a-2", "b"),
        ("c", "a-2"),
    ]
    log.extend([user("a", "two and more"), user("a", "one")])
    assert log.chain[::2] == [user("a", "one"), user("a-2", "two and more", "b")]


def test_sidechains_inside_a_session_are_set_apart() -> None:
    """Old clients wrote subagents into the session's file; a repeated line stays there."""
    own = [user("a"), reply("d", "done")]
    foreign = [user("b", "task", isSidechain=True), reply("c", "on it", isSidechain=True)]
    log = log_of(own[0], *foreign, own[1], foreign[1])
    assert (log.chain, log.sidechain) == (own, foreign)
    assert log.starts_in_sidechain is False


def test_a_subagents_own_transcript_is_one_conversation() -> None:
    """If the first message is a sidechain record, all lines belong to the subagent."""
    records = [user("a", "task", isSidechain=True), reply("b", "done", isSidechain=True)]
    log = log_of(*records, system("c", "informational"))
    assert (log.chain, log.sidechain) == ([*records, system("c", "informational")], [])
    assert log.starts_in_sidechain is True


def test_what_comes_before_the_first_word_is_the_files_own() -> None:
    """Notices before the first message belong to the session, not to a subagent in its file."""
    notice = system("a", "informational", isSidechain=True)
    task = user("b", "task", isSidechain=True)
    assert log_of(notice, task).chain == [notice, task]


def test_a_rewind_to_the_start_is_noted() -> None:
    """A nil leaf means that the whole conversation was rewound; others do not."""
    assert log_of(LastPrompt(leaf_uuid="a")).rewound_to_start is False
    assert log_of(LastPrompt(leaf_uuid=NIL_UUID), user("a")).rewound_to_start is True


def words_of(record: Record) -> object:
    """Return the uuid and the text of a record."""
    if not isinstance(record, User | Assistant) or not record.message:
        return None
    return str(record.uuid).partition("-")[0], str(record.message.content)


RECORDS = st.lists(
    st.sampled_from(
        [
            *(user(uuid, words) for uuid in "ab" for words in ("one", "two")),
            *(user(uuid, isSidechain=True) for uuid in "ac"),
            *(reply(uuid, "hello", isSidechain=side) for uuid in "cd" for side in (True, False)),
            Mode(mode="normal"),
            LastPrompt(leaf_uuid=NIL_UUID),
            Unknown(uuid="e"),
            Torn(),
        ]
    )
)


@given(RECORDS, st.integers(0, 20))
def test_steps_do_not_matter(records: Sequence[Record], cut: int) -> None:
    """Adding records in steps gives the same log as adding all at once."""
    log = log_of(*records[:cut])
    log.extend(records[cut:])
    assert contents_of(log) == contents_of(log_of(*records))


@given(RECORDS)
def test_each_uuid_occurs_once(records: Sequence[Record]) -> None:
    """No uuid is listed twice, and no uuid or text is lost."""
    log = log_of(*records)
    links = (*log.chain, *log.sidechain)
    names = [str(link.uuid) for link in links]
    assert len(set(names)) == len(names)
    uuids = {str(getattr(record, "uuid", "")) for record in records} - {""}
    assert {name.partition("-")[0] for name in names} == uuids
    assert set(map(words_of, records)) <= {*map(words_of, links), None}
