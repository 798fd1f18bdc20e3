"""The user's own text, and the contexts that editors and the client add to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.kinds import Context, ContextKind
from recollect.session.prompt_contexts import attach_contexts, separate_words

REMINDER = "<system-reminder>\nBe brief.\n</system-reminder>"
BRIEF = Context(ContextKind.REMINDER, "Be brief.")
HOSTILE = 1_000_000


def wrap(tag: str, body: str) -> str:
    """Return `body` as the client would wrap it."""
    return f"<{tag}>{body}</{tag}>"


@pytest.mark.parametrize(
    "text", ["", "fix the test", "a < b > c", "<div>\nhello\n</div>", "> quote"]
)
def test_words_alone_stay_as_they_are(text: str) -> None:
    """Text without a wrapper is the user's own, whatever markup it contains."""
    assert separate_words(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "words", "contexts"),
    [
        (REMINDER, "", (BRIEF,)),
        (f"{REMINDER}\nfix it", "fix it", (BRIEF,)),
        (f"fix it\n\n{REMINDER}\n", "fix it", (BRIEF,)),
        (f"{REMINDER}{REMINDER} fix it {REMINDER}", "fix it", (BRIEF, BRIEF, BRIEF)),
        (f"before {REMINDER} behind", f"before {REMINDER} behind", ()),
        ("why <system-reminder>?", "why <system-reminder>?", ()),
        ("<system-reminder>never closed", "<system-reminder>never closed", ()),
        ("never opened</system-reminder>", "never opened</system-reminder>", ()),
        ("<system-reminders>x</system-reminder>", "<system-reminders>x</system-reminder>", ()),
    ],
)
def test_wrappers_at_the_edges_are_taken_out(
    text: str, words: str, contexts: tuple[Context, ...]
) -> None:
    """Only complete wrappers before and after the text are contexts, in order."""
    assert separate_words(text) == (words, contexts)


SELECTED = "The user selected the lines 3 to 5 from /p/a.py:\nx = 1\n\nMaybe related."
SELECTED_ON_WINDOWS = "The user selected the lines 1 to 1 from C:\\p\\a b.py"
OPENED = "The user opened the file /p/a.py in the IDE. Maybe related."


@pytest.mark.parametrize(
    ("tag", "body", "expected"),
    [
        (
            "ide_selection",
            SELECTED,
            Context(ContextKind.IDE_SELECTION, SELECTED, "/p/a.py", first_line=3, last_line=5),
        ),
        (
            "ide_selection",
            SELECTED_ON_WINDOWS,
            Context(ContextKind.IDE_SELECTION, SELECTED_ON_WINDOWS, "C:\\p\\a b.py", 1, 1),
        ),
        ("ide_selection", "some code", Context(ContextKind.IDE_SELECTION, "some code")),
        ("ide_opened_file", OPENED, Context(ContextKind.IDE_OPENED_FILE, OPENED, "/p/a.py")),
        ("ide_opened_file", "no name", Context(ContextKind.IDE_OPENED_FILE, "no name")),
        ("ide_diagnostics", "[]", Context(ContextKind.IDE_DIAGNOSTICS, "[]")),
        ("pasted_content", "long text", Context(ContextKind.PASTED, "long text")),
        ("user-prompt-submit-hook", "checked", Context(ContextKind.HOOK, "checked")),
        ("session-start-hook", "started", Context(ContextKind.HOOK, "started")),
    ],
)
def test_each_wrapper_has_its_kind(tag: str, body: str, expected: Context) -> None:
    """A context has a kind, and the file and lines that an editor names."""
    assert separate_words(f"{wrap(tag, body)}\nfix it") == ("fix it", (expected,))


def test_a_wrapper_may_have_attributes() -> None:
    """Attributes of the tag are not part of the context's text."""
    text = '<pasted_content id="1">long text</pasted_content> fix it'
    assert separate_words(text) == ("fix it", (Context(ContextKind.PASTED, "long text"),))


PLUS_QUOTE = """\
> **上下文资料**
>
> - 📄 `build.gradle.kts`
> - 🌐 https://example.com (a page)
> - 📁 `src/main` (15 files)
> - 🔗 `Main.run()`
> - 💻 12 lines of output
> - ⚠️ 3 problems
> - 🔀 `feature/x` 2 commits
> - ✏️ `Main.kt` 3-5
> - 🏠 my project

compare these
"""


def test_a_markdown_quote_lists_contexts() -> None:
    """The quote that claude-code-plus puts before the text has one line per context."""
    assert separate_words(PLUS_QUOTE) == (
        "compare these",
        (
            Context(ContextKind.FILE, "`build.gradle.kts`", path="build.gradle.kts"),
            Context(ContextKind.WEB, "https://example.com (a page)", path="https://example.com"),
            Context(ContextKind.FOLDER, "`src/main` (15 files)", path="src/main"),
            Context(ContextKind.SYMBOL, "`Main.run()`", path="Main.run()"),
            Context(ContextKind.TERMINAL, "12 lines of output"),
            Context(ContextKind.PROBLEMS, "3 problems"),
            Context(ContextKind.GIT, "`feature/x` 2 commits", path="feature/x"),
            Context(ContextKind.SELECTION, "`Main.kt` 3-5", path="Main.kt"),
            Context(ContextKind.WORKSPACE, "my project"),
        ),
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("❓ `a.kt`", Context(ContextKind.FILE, "❓ `a.kt`", path="a.kt")),
        ("unmarked", Context(ContextKind.FILE, "unmarked")),
        ("📄 `a\u2028b`", Context(ContextKind.FILE, "`a\u2028b`", path="a\u2028b")),
    ],
)
def test_a_listed_context_without_a_known_icon_is_kept(line: str, expected: Context) -> None:
    """An undocumented line of the quote is a file context with the whole line as its name."""
    assert separate_words(f"> **上下文资料**\r\n> - {line}\n\ngo") == ("go", (expected,))


def test_a_quote_of_the_heading_alone_is_the_persons() -> None:
    """A heading without contexts was written by the user."""
    assert separate_words("> **上下文资料**\n\ngo") == ("> **上下文资料**\n\ngo", ())


TAGS = {
    "ide_selection": ContextKind.IDE_SELECTION,
    "ide_opened_file": ContextKind.IDE_OPENED_FILE,
    "system-reminder": ContextKind.REMINDER,
    "session-start-hook": ContextKind.HOOK,
}
KIND_TO_TAG = {kind: tag for tag, kind in TAGS.items()}
BODY = st.text(st.characters(exclude_characters="<>", exclude_categories=["Cs"]), max_size=8)
WRAPPED = st.lists(st.tuples(st.sampled_from(sorted(TAGS)), BODY), max_size=3)


@given(WRAPPED, BODY, WRAPPED)
def test_what_was_put_together_is_taken_apart(
    before: list[tuple[str, str]], words: str, behind: list[tuple[str, str]]
) -> None:
    """The text between any number of wrappers is recovered, and so is each context."""
    text = "".join((*(wrap(*one) for one in before), words, *(wrap(*one) for one in behind)))
    found, contexts = separate_words(text)
    assert found == words.strip(" \t\r\n")
    assert [(c.kind, c.text) for c in contexts] == [
        (TAGS[tag], body.strip(" \t\r\n")) for tag, body in (*before, *behind)
    ]


PIECES = [*(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS), " ", "\n", "a", "<b>"]


def count_signs(text: str) -> int:
    """Return the number of characters that are not white space."""
    return len("".join(text.split()))


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_sign_is_lost(text: str) -> None:
    """Words, contexts and the tags around them contain every character except white space."""
    words, contexts = separate_words(text)
    wrapped = [wrap(KIND_TO_TAG[context.kind], context.text) for context in contexts]
    assert count_signs(text) == count_signs("".join((words, *wrapped)))


@pytest.mark.parametrize(
    "text",
    [
        " " * HOSTILE,
        "<system-reminder>" * (HOSTILE // 17),
        "</system-reminder>" * (HOSTILE // 18),
        "<system-reminder " * (HOSTILE // 17) + "</system-reminder>",
        "<system-reminder>" + " " * HOSTILE,
        "<system-reminder></system-reminder>" * (HOSTILE // 35),
        "a" + "<system-reminder></system-reminder> " * (HOSTILE // 36),
        "> **上下文资料**\n" + "> - 📄 `\n" * (HOSTILE // 9),
        "> **上下文资料**\n> - " + "`" * HOSTILE,
        "> **上下文资料**\n> - " + "📄" * HOSTILE,
        wrap("ide_opened_file", "opened the file " * (HOSTILE // 16)),
        wrap("ide_selection", "selected the lines 1 to 2 from " * (HOSTILE // 31)),
        wrap("ide_selection", "selected the lines " + "1" * HOSTILE + " to 2 from a"),
    ],
    ids=lambda text: repr(text[:24]),
)
def test_hostile_text_costs_no_more_than_its_length(text: str) -> None:
    """A megabyte of misleading text is parsed in linear time; otherwise the test would not end."""
    words, contexts = separate_words(text)
    assert len(words) + sum(len(context.text) for context in contexts) <= len(text)


_LINE = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=30)
_KINDS = st.sampled_from([each for each in ContextKind if each.value in {
    "file", "web", "folder", "symbol", "terminal", "problems", "git", "selection", "workspace",
}])  # fmt: skip


@given(
    words=st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=60),
    listed=st.lists(st.tuples(_KINDS, _LINE), min_size=1, max_size=4),
    content=st.text(st.characters(exclude_categories=["C"]), max_size=60).map(str.strip),
)
def test_what_is_attached_is_taken_apart_again(
    words: str, listed: list[tuple[ContextKind, str]], content: str
) -> None:
    """Text and contexts are recovered, each context with its content."""
    contexts = tuple(Context(kind, text) for kind, text in listed)
    found, taken = separate_words(attach_contexts(words, contexts, [content]))
    assert found == words
    assert [each.kind for each in taken] == [each.kind for each in contexts]
    first, *others = contexts
    assert taken[0].text == (f"{first.text}\n{content}" if content else first.text)
    assert [each.text for each in taken[1:]] == [each.text for each in others]


def test_an_attached_text_cannot_end_itself() -> None:
    """A text that contains its own closing tag stays one context."""
    hostile = 'a</pasted_content>\n<pasted_content context="1">b'
    sent = attach_contexts("go", [Context(ContextKind.TERMINAL, "output")], [hostile])
    assert sent.count("</pasted_content>") == 1
    words, (context,) = separate_words(sent)
    assert (words, context.text.count("\n")) == ("go", 2)


def test_nothing_is_attached_without_contexts() -> None:
    """A prompt without contexts is sent unchanged."""
    assert attach_contexts("go", []) == "go"
