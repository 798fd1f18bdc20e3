"""The tree of parent links, its main path, and its branches."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from recollect.records.conversation_records import User
from recollect.records.envelope import Chain, Span
from recollect.session.branches import START, Branch, find_abandoned, find_branches, find_main_path
from recollect.session.tree import Tree, build_tree, find_leaf, find_path
from tests.session.chains import (
    attachment,
    boundary,
    in_a_row,
    progress,
    reply,
    result,
    summary,
    system,
    use,
    user,
)


def shape_of(tree: Tree) -> tuple[object, ...]:
    """Return the links of a tree."""
    return tree.roots, tree.children, tree.orphans, tree.cut


def path_of(chain: Sequence[Chain]) -> tuple[str, ...]:
    """Return the path to the live end of `chain`."""
    tree = build_tree(chain)
    return find_path(tree, find_leaf(tree))


def main_path_of(chain: Sequence[Chain]) -> tuple[str, ...]:
    """Return the part of `chain` that was not abandoned."""
    return find_main_path(build_tree(chain), path_of(chain), lambda: branches_of(chain))


def branches_of(chain: Sequence[Chain], *, rewound_to_start: bool = False) -> tuple[Branch, ...]:
    """Return the branches of `chain`."""
    tree = build_tree(chain, rewound_to_start=rewound_to_start)
    path = find_path(tree, find_leaf(tree))
    return find_branches(tree, path, rewound_to_start=rewound_to_start)


def test_nothing_grows_no_tree() -> None:
    """An empty file has no tree, no leaf, no path and no branch."""
    assert shape_of(build_tree([])) == ((), {}, frozenset(), frozenset())
    assert (find_leaf(build_tree([])), path_of([]), branches_of([])) == (None, (), ())


def test_links_follow_their_parents() -> None:
    """Children are under their parents in file order; a link without a parent is a root."""
    tree = build_tree([user("a"), reply("b", parent="a"), user("c", parent="a"), user("d")])
    assert shape_of(tree) == (("a", "d"), {"a": ("b", "c")}, frozenset(), frozenset())


def test_a_lost_parent_makes_a_root() -> None:
    """A record whose parent is not in the file is a root, and marked as an orphan."""
    tree = build_tree([user("a"), user("b", parent="gone"), reply("c", parent="b")])
    assert shape_of(tree) == (("a", "b"), {"b": ("c",)}, frozenset("b"), frozenset())


def test_a_child_may_come_before_its_parent() -> None:
    """Parents do not depend on file order."""
    tree = build_tree([reply("b", parent="a"), user("a")])
    assert shape_of(tree) == (("a",), {"a": ("b",)}, frozenset(), frozenset())


@pytest.mark.parametrize(
    ("parents", "cut", "roots"),
    [
        ({"a": "a"}, "a", "a"),
        ({"a": "b", "b": "a"}, "a", "a"),
        ({"a": None, "b": "d", "c": "b", "d": "c", "e": "d"}, "b", "ab"),
        ({"e": "d", "d": "c", "c": "b", "b": "d"}, "d", "d"),
    ],
)
def test_circles_are_cut(parents: dict[str, str | None], cut: str, roots: str) -> None:
    """In each cycle the first record in the file becomes a root."""
    tree = build_tree([user(uuid, parent=parent) for uuid, parent in parents.items()])
    assert (tree.cut, tree.roots) == (frozenset(cut), tuple(roots))


NAMES = st.integers(0, 11).map(str)
PARENT_MAPS = st.dictionaries(NAMES, st.none() | NAMES | st.just("lost"))


@given(PARENT_MAPS)
def test_every_link_has_one_place(parents: dict[str, str | None]) -> None:
    """Whatever the parents are, each record is a root or a child exactly once, and is reachable."""
    tree = build_tree([User(uuid=uuid, parent_uuid=above) for uuid, above in parents.items()])
    below = [child for children in tree.children.values() for child in children]
    assert sorted([*tree.roots, *below]) == sorted(parents)
    reached = list(tree.roots)
    for uuid in reached:
        reached += tree.children.get(uuid, ())
    assert sorted(reached) == sorted(parents)


@given(PARENT_MAPS)
def test_the_main_path_names_nothing_twice(parents: dict[str, str | None]) -> None:
    """The path goes from a root to a record without children, and each uuid is on it once."""
    tree = build_tree([User(uuid=uuid, parent_uuid=above) for uuid, above in parents.items()])
    path = find_path(tree, find_leaf(tree))
    assert len(set(path)) == len(path)
    assert set(path[:1]) <= set(tree.roots)
    assert bool(path) == bool(parents)
    assert [uuid for uuid in path[-1:] if uuid in tree.children] == []


@given(
    st.lists(
        st.tuples(st.sampled_from("urcabx"), NAMES | st.none(), NAMES | st.none()), max_size=12
    )
)
def test_no_shape_of_conversation_repeats_a_record(
    shapes: list[tuple[str, str | None, str | None]],
) -> None:
    """Any arrangement of calls, results, compactions and asides gives a path without repeats."""
    chain: list[Chain] = []
    for number, (kind, parent, other) in enumerate(shapes):
        uuid = str(number)
        made: dict[str, Chain] = {
            "u": user(uuid, "words", parent),
            "r": result(uuid, other or "", parent=parent),
            "c": reply(uuid, use(other or uuid), parent=parent, message={"id": other}),
            "a": attachment(uuid, "date", parent),
            "b": boundary(uuid, other),
            "x": user(uuid, "<command-name>/x</command-name>", parent),
        }
        chain.append(made[kind])
    path = path_of(chain)
    assert len(set(path)) == len(path)
    for branch in branches_of(chain, rewound_to_start=True):
        assert len(set(branch.options)) == len(branch.options) > 1


@pytest.mark.slow
def test_a_long_chain_is_no_deep_recursion() -> None:
    """A hundred thousand records in a row cause no recursion error."""
    chain: list[Chain] = [
        User(uuid=str(n), parent_uuid=str(n - 1) if n else None) for n in range(100_000)
    ]
    assert path_of(chain) == tuple(str(n) for n in range(100_000))
    assert branches_of(chain) == ()


def test_many_prompts_behind_a_long_run_are_found_in_one_pass() -> None:
    """Thousands of prompts after thousands of transparent records are one branch, found once."""
    run = in_a_row(user("start"), *(system(f"s{n}", "informational") for n in range(5_000)))
    prompts = [user(f"p{n}", f"words {n}", "s4999") for n in range(5_000)]
    (branch,) = branches_of([*run, *prompts])
    assert (branch.at, len(branch.options), branch.chosen) == ("start", 5_000, "p4999")


@pytest.mark.slow
def test_a_long_circle_is_cut_once() -> None:
    """A cycle of a hundred thousand records loses only one link."""
    chain = [User(uuid=str(n), parent_uuid=str((n + 1) % 100_000)) for n in range(100_000)]
    assert build_tree(chain).cut == {"0"}


def test_the_leaf_is_the_last_word() -> None:
    """The live end is the last message; notices and injected records are skipped."""
    chain = in_a_row(
        user("a"), reply("b"), system("c", "turn_duration"), user("d", isMeta=True), user("")
    )
    assert find_leaf(build_tree(chain)) == "b"


def test_the_leaf_is_followed_by_nothing() -> None:
    """A record that was written again after its own replies is not a leaf."""
    chain = [reply("b", parent="a"), system("c", "turn_duration", "b"), user("a")]
    assert find_leaf(build_tree(chain)) == "b"


def test_of_several_ends_the_last_line_counts() -> None:
    """A record keeps its position when it is written again, but its last line decides."""
    first = replace(reply("b", parent="a"), span=Span("", 300, 1))
    second = replace(reply("c", parent="a"), span=Span("", 200, 1))
    assert find_leaf(build_tree([user("a"), first, second])) == "b"


def test_the_path_goes_past_compactions() -> None:
    """A boundary has no parent, but names the record before it: the path is the whole history."""
    chain = [
        *in_a_row(user("a"), reply("b"), system("c", "turn_duration")),
        *in_a_row(boundary("d", "b"), summary("e"), user("f"), reply("g")),
    ]
    assert path_of(chain) == ("a", "b", "d", "e", "f", "g")


def test_a_compaction_that_names_a_lost_record_follows_the_last_word() -> None:
    """If the named record was never written, the last message before the cut is used."""
    chain = [
        *in_a_row(user("a"), reply("b"), progress("c", "hook_progress")),
        *in_a_row(boundary("d", "gone"), summary("e"), user("f")),
    ]
    assert path_of(chain) == ("a", "b", "d", "e", "f")


def test_a_fork_of_a_compacted_session_starts_at_the_compaction() -> None:
    """There the record before the cut was copied after it: the path starts without a cycle."""
    chain = in_a_row(boundary("a", "c"), summary("b"), reply("c"), user("d"))
    assert path_of(chain) == ("a", "b", "c", "d")


def test_results_of_parallel_calls_are_on_the_path() -> None:
    """The conversation continues from one result; the others come after their message's lines."""
    same = {"id": "m1"}
    chain = [
        user("a"),
        reply("b", use("t1"), parent="a", message=same),
        reply("c", use("t2"), parent="b", message=same),
        result("d", "t1", parent="b"),
        result("e", "t2", parent="c"),
        reply("f", "both done", parent="e"),
    ]
    assert path_of(chain) == ("a", "b", "c", "d", "e", "f")
    assert branches_of(chain) == ()


def test_calls_beside_the_path_are_on_it() -> None:
    """Parallel calls that are not on the path are added to it, before all results."""
    same = {"id": "m1"}
    chain = [
        user("a"),
        reply("b", use("t1"), parent="a", message=same),
        reply("c", use("t2"), parent="b", message=same),
        progress("d", "hook_progress", "c"),
        reply("e", use("t3"), parent="d", message=same),
        result("f", "t3", parent="e"),
        result("g", "t2", parent="c"),
        result("h", "t1", parent="b"),
        reply("i", "all done", parent="h"),
    ]
    assert path_of(chain) == ("a", "b", "c", "e", "f", "g", "h", "i")
    assert branches_of(chain) == ()


def test_a_call_that_a_crash_left_behind_is_on_the_path() -> None:
    """The next prompt follows a reply whose call was never answered."""
    same = {"id": "m1"}
    chain = [
        user("a"),
        reply("b", "let me see", parent="a", message=same),
        reply("c", use("t1"), parent="b", message=same),
        user("d", "go on", "b"),
    ]
    assert path_of(chain) == ("a", "b", "c", "d")
    assert branches_of(chain) == ()


def test_what_answers_other_calls_stays_off_the_path() -> None:
    """Beside the path, only what belongs to a message on it is included."""
    chain = [
        user("a"),
        reply("b", use("t1"), parent="a"),
        result("c", "other", parent="b"),
        result("d", "t1", parent="b"),
        reply("e", "another message", parent="b"),
        reply("f", "done", parent="d"),
    ]
    assert path_of(chain) == ("a", "b", "d", "f")


def test_a_rewind_is_a_branch() -> None:
    """Two prompts after one turn are a branch; the abandoned one is not chosen."""
    chain = [
        *in_a_row(user("a", "one"), reply("b"), system("c", "turn_duration")),
        *in_a_row(user("d", "two", "c"), reply("e"), system("f", "turn_duration")),
        *in_a_row(user("g", "another two", "c"), reply("h")),
    ]
    assert path_of(chain) == ("a", "b", "c", "g", "h")
    assert branches_of(chain) == (Branch(at="b", options=("d", "g"), chosen="g"),)


def test_a_rewind_is_found_behind_asides() -> None:
    """Attachments, injected records and local commands do not hide a branch."""
    chain = [
        *in_a_row(user("a", "one"), reply("b")),
        *in_a_row(
            user("c", "Caveat: ignore this", "b", isMeta=True),
            user("d", "<command-name>/model</command-name>"),
            user("e", "<local-command-stdout>set</local-command-stdout>"),
            attachment("f", "date"),
            user("g", "two"),
            reply("h"),
        ),
        *in_a_row(progress("i", "hook_progress", "b"), user("j", "another two")),
    ]
    assert branches_of(chain) == (Branch(at="b", options=("g", "j"), chosen="j"),)


def test_two_replies_to_one_prompt_are_a_branch() -> None:
    """A prompt sent again has two replies; lines of one message are one reply."""
    same = {"id": "m1"}
    chain = [
        user("a"),
        *in_a_row(reply("b", "hm", parent="a", message=same), reply("c", "first", message=same)),
        reply("d", "second", parent="a"),
    ]
    assert branches_of(chain) == (Branch(at="a", options=("b", "d"), chosen="d"),)


def test_branches_come_in_the_order_in_which_they_arose() -> None:
    """The branch whose second option is first in the file comes first, whatever its kind."""
    chain = [
        user("a"),
        reply("b", parent="a"),
        user("c", parent="b"),
        reply("d", parent="a"),
        user("e", "again", "b"),
    ]
    assert branches_of(chain) == (
        Branch(at="a", options=("b", "d"), chosen="b"),
        Branch(at="b", options=("c", "e"), chosen="e"),
    )


def test_what_the_client_made_up_is_no_reply() -> None:
    """An API error beside the reply of a retry is not a branch."""
    synthetic = {"model": "<synthetic>"}
    chain = [
        user("a"),
        reply("b", "API Error", parent="a", message=synthetic),
        system("c", "api_error", "a"),
        reply("d", "hello", parent="c"),
    ]
    assert branches_of(chain) == ()


@pytest.mark.parametrize(
    "words",
    [
        "<command-name>/cost</command-name>",
        "<bash-input>ls</bash-input>",
        "<local-command-stdout>a lot</local-command-stdout>",
        "[Request interrupted by user]",
        "<task-notification>done</task-notification>",
    ],
)
def test_only_prompts_branch(words: str) -> None:
    """Commands without a reply, echoes and notices beside a prompt are not branches."""
    chain = [user("a"), reply("b", parent="a"), user("c", words, "b"), user("d", "next", "b")]
    assert branches_of(chain) == ()


def test_a_command_that_is_answered_is_a_prompt() -> None:
    """A command that the model answers continues the conversation like a prompt."""
    chain = [
        user("a"),
        reply("b", parent="a"),
        *in_a_row(
            user("c", "<command-name>/review</command-name>", "b"),
            user("d", "Review it.", isMeta=True),
            reply("e"),
        ),
        user("f", "next", "b"),
    ]
    assert branches_of(chain) == (Branch(at="b", options=("c", "f"), chosen="f"),)


def test_a_command_is_not_answered_by_the_reply_to_the_next_prompt() -> None:
    """A reply belongs to the nearest prompt above it."""
    chain = [
        user("a"),
        reply("b", parent="a"),
        *in_a_row(user("c", "<command-name>/model</command-name>", "b"), user("d"), reply("e")),
        user("f", "<command-name>/cost</command-name>", "b"),
    ]
    assert branches_of(chain) == ()


def test_several_beginnings_are_a_branch_only_after_a_rewind() -> None:
    """Files may be concatenated; two roots are a branch only if the client recorded a rewind."""
    chain = [user("a"), reply("b", parent="a"), user("c"), reply("d", parent="c")]
    assert branches_of(chain) == ()
    assert branches_of(chain, rewound_to_start=True) == (
        Branch(at=START, options=("a", "c"), chosen="c"),
    )


def test_what_follows_lost_records_is_no_branch() -> None:
    """Two prompts whose parents are lost, or were cut from a circle, need not be alternatives."""
    chain = [
        *(user("a", parent="gone"), user("b", parent="gone")),
        *(user("c", parent="c"), user("d", parent="d")),
    ]
    assert branches_of(chain, rewound_to_start=True) == ()


def test_a_compaction_is_no_branch() -> None:
    """The summary and the next prompt follow the boundary, not the prompt before it."""
    chain = [
        *in_a_row(user("a"), reply("b")),
        user("c", "next", "b"),
        *in_a_row(boundary("d", "b"), summary("e"), user("f")),
    ]
    assert branches_of(chain) == ()


def test_a_broken_chain_continues_where_it_broke() -> None:
    """Records before a missing one are on the path of those after it, with one gap."""
    chain = [
        *in_a_row(user("a"), reply("b")),
        *in_a_row(user("c", "next", "gone"), reply("d")),
        *in_a_row(progress("e", "hook_progress", "lost"), user("f"), reply("g")),
    ]
    assert path_of(chain) == ("a", "b", "c", "d", "e", "f", "g")
    assert build_tree(chain).gaps == {"c", "e"}
    assert branches_of(chain) == ()


def test_a_summary_without_a_parent_follows_what_it_sums_up() -> None:
    """Clients of 1.0.35 began a second chain when they compacted: the first is the history."""
    chain = [
        *in_a_row(user("a"), reply("b")),
        *in_a_row(summary("c"), user("d"), reply("e")),
    ]
    assert path_of(chain) == ("a", "b", "c", "d", "e")
    assert build_tree(chain).gaps == {"c"}


def test_a_file_without_links_misses_none() -> None:
    """If no record has a parent, all records are one conversation, and none is lost."""
    chain = [user("a"), reply("b"), user("c"), reply("d")]
    assert main_path_of(chain) == ("a", "b", "c", "d")
    assert build_tree(chain).gaps == frozenset()


def test_signs_of_life_without_a_parent_are_no_gap() -> None:
    """A detached part without messages does not interrupt the conversation."""
    chain = [
        *in_a_row(user("a"), reply("b")),
        *in_a_row(progress("c", "hook_progress", "gone"), progress("d", "hook_progress")),
    ]
    assert build_tree(chain).gaps == frozenset()


def test_a_root_above_its_own_past_follows_nothing() -> None:
    """A child written before its parent does not close a cycle when parts are joined."""
    chain = [reply("b", parent="a"), user("a"), user("c", parent="gone")]
    assert build_tree(chain).before == {"c": "a"}


def test_only_another_continuation_leaves_something_behind() -> None:
    """Detached records without an alternative are on the main path; rewound ones are not.

    The first prompt and the command after the same caveat are not branches.
    """
    chain = [
        user("a", "Caveat: ignore this", isMeta=True),
        *in_a_row(user("b", "one", "a"), reply("c")),
        user("d", "<command-name>/cost</command-name>", "a"),
        *in_a_row(user("e", "two", "c"), reply("f")),
        *in_a_row(user("g", "another two", "c"), reply("h")),
    ]
    assert main_path_of(chain) == ("a", "b", "c", "d", "g", "h")


def test_a_rewind_in_a_piece_apart_is_decided_by_its_last_word() -> None:
    """In a detached part, too, only the branch that was not continued is abandoned."""
    chain = [
        *in_a_row(user("a"), reply("b")),
        user("c", "one", "gone"),
        *in_a_row(user("d", "two", "c"), reply("e")),
        *in_a_row(user("f", "another two", "c"), reply("g")),
        *in_a_row(boundary("h", "b"), summary("i"), user("j"), reply("k")),
    ]
    assert branches_of(chain) == (Branch(at="c", options=("d", "f"), chosen="f"),)
    assert main_path_of(chain) == ("a", "b", "c", "f", "g", "h", "i", "j", "k")


@given(PARENT_MAPS)
def test_the_main_path_leaves_out_only_what_was_left_behind(
    parents: dict[str, str | None],
) -> None:
    """With any parents, every message is on the main path once, or abandoned."""
    chain = [user(uuid, parent=above) for uuid, above in parents.items()]
    tree = build_tree(chain)
    path = find_path(tree, find_leaf(tree))
    branches = find_branches(tree, path)
    main_path = find_main_path(tree, path, lambda: branches)
    assert len(set(main_path)) == len(main_path)
    assert set(main_path) == set(parents) - find_abandoned(tree, branches)
