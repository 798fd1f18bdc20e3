"""Tests of recollect.lineage."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.session_listing import SessionListing
from recollect.library.sidecar_files import TypedPrompt
from recollect.lineage import Relation, Relatives, SessionTree, build_trees, find_relatives

IDS = st.sampled_from("abcdef")


def listing(name: str, activity: float = 0.0, **facts: object) -> SessionListing:
    """Return a session whose path is its name."""
    shown: dict[str, object] = {
        "id": name,
        "project": "p",
        "path": name,
        "size": 1,
        "modified": activity,
        "activity": activity,
        **facts,
    }
    return SessionListing(**shown)  # type: ignore[arg-type]


def draw(tree: SessionTree) -> object:
    """Return a tree as names and relations."""
    name = f"{tree.relation.value}:{tree.listing.id}" if tree.relation else tree.listing.id
    return (name, *map(draw, tree.children)) if tree.children else name


def test_each_kind_of_descent_is_known() -> None:
    """Subagents, forks by field or common start, and continuations, earliest first."""
    listings = [
        listing("g", 9, first_reply_id="m1"),
        listing("c", 8),
        listing("f", 7, forked_from="a"),
        listing("s", 6, is_subagent=True, parent_id="f"),
        listing("a", 5, continued_in="c", first_reply_id="m1"),
        listing("other", 4),
    ]
    assert [draw(tree) for tree in build_trees(listings)] == [
        ("a", ("fork:f", "subagent:s"), "continuation:c", "fork:g"),
        "other",
    ]


def test_a_session_names_what_is_before_and_after_it() -> None:
    """Its predecessor, its continuations and its forks; a subagent belongs to its session."""
    first = listing("first", continued_in="second")
    second, fork = listing("second"), listing("fork", forked_from="second")
    agent = listing("agent", is_subagent=True, parent_id="second")
    every = [first, second, fork, agent]
    assert [find_relatives(each, every) for each in every] == [
        Relatives(None, None, ((Relation.CONTINUATION, second),)),
        Relatives(first, Relation.CONTINUATION, ((Relation.FORK, fork),)),
        Relatives(second, Relation.FORK, ()),
        Relatives(None, None, ()),
    ]


def test_numbered_ids_of_replies_make_nobody_a_fork() -> None:
    """A proxy starts every session with `msg_1`; only copies have the same prompt and time."""
    first = {"first_reply_id": "msg_1", "first_prompt": "hello", "first_prompt_time": "t1"}
    listings = [
        listing("copy", 4, **first),
        listing("later", 3, **{**first, "first_prompt_time": "t2"}),
        listing("other", 2, **{**first, "first_prompt": "good morning"}),
        listing("a", 1, **first),
    ]
    assert [draw(tree) for tree in build_trees(listings)] == [("a", "fork:copy"), "later", "other"]


def test_a_copy_by_an_old_client_is_known_by_a_unique_id() -> None:
    """Its time differs, and so does that of its prompt."""
    first = {"first_reply_id": "msg_01FPKrXHfvmDAMvsNLe83qaK", "first_prompt": "hello"}
    listings = [
        listing("copy", 2, **first, first_prompt_time="t2"),
        listing("a", 1, **first, first_prompt_time="t1"),
    ]
    assert [draw(tree) for tree in build_trees(listings)] == [("a", "fork:copy")]


def test_a_parent_that_is_not_there_leaves_its_children_alone() -> None:
    """No parent is made up, and no child is lost."""
    listings = [
        listing("s", is_subagent=True, parent_id="gone"),
        listing("f", forked_from="gone"),
    ]
    assert [draw(tree) for tree in build_trees(listings)] == ["s", "f"]


def test_a_clear_leads_to_the_session_that_starts_right_then() -> None:
    """In the same directory; earlier and later sessions do not count."""
    typed = TypedPrompt(
        display="/clear", timestamp=1_794_769_792_731, project="/p", session_id="old"
    )
    started = {
        "old": "2026-11-15T19:09:28Z",
        "other": "2026-11-15T19:09:52.800Z",
        "later": "2026-11-15T19:10:20Z",
        "new": "2026-11-15T19:09:52.796Z",
    }
    listings = [
        listing(name, created=created, cwd="/elsewhere" if name == "other" else "/p")
        for name, created in started.items()
    ]
    assert [draw(tree) for tree in build_trees(listings, [typed])] == [
        ("old", "clear:new"),
        "other",
        "later",
    ]


def test_a_session_never_descends_from_itself() -> None:
    """A cycle of files that claim each other is cut once."""
    listings = [listing("a", 1, forked_from="b"), listing("b", 2, forked_from="a")]
    (tree,) = build_trees(listings)
    assert sorted(each.id for each in tree) == ["a", "b"]


@given(
    st.dictionaries(IDS, st.tuples(st.none() | IDS, st.none() | IDS, st.none() | IDS), min_size=1)
)
def test_every_session_is_in_exactly_one_tree(
    facts: dict[str, tuple[str | None, str | None, str | None]],
) -> None:
    """Whatever relations sessions claim."""
    listings = [
        listing(name, ord(name), forked_from=origin, continued_in=next_id, first_reply_id=reply)
        for name, (origin, next_id, reply) in facts.items()
    ]
    trees = build_trees(listings)
    assert sorted(each.id for tree in trees for each in tree) == sorted(facts)
    assert all(tree.relation is None for tree in trees)
    assert {relation.value for relation in Relation} == {
        "subagent",
        "fork",
        "continuation",
        "clear",
    }
