"""One output: stable tags, all locations and encodings of a secret, personal data, own patterns."""

import base64
import json
from random import Random
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.redact.findings import Confidence, Match, OwnPattern, RedactionPolicy
from recollect.redact.policy import find_secrets
from recollect.redact.redactor import Redactor
from tests.redact.labelled_set import is_readable, iter_examples
from tests.redact.made_up_secrets import ALNUM, FAMILIES, WITH_RULE, draw

SECRET = draw(Random(21), ALNUM, 33)


def test_the_same_secret_has_the_same_tag() -> None:
    """Tags are numbered by kind in order of appearance and are stable over texts."""
    first, second = (FAMILIES["stripe"].make(Random(seed)).text for seed in (1, 2))
    redactor = Redactor()
    assert redactor.redact(f"{first} {second}") == "[redacted:stripe-key#1] [redacted:stripe-key#2]"
    assert redactor.redact(f"({second})") == "([redacted:stripe-key#2])"
    assert redactor.counts == {"stripe-key": 3}


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        json.dumps(json.dumps({"a": f'"{SECRET}"'})),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"x{SECRET}y".encode()).decode(),
        base64.b64encode(f"xx{SECRET}".encode()).decode(),
        quote(f"/{SECRET}/", safe=""),
        SECRET.encode().hex(),
        f"{'-' * 60} {SECRET[:19]}\n{SECRET[19:]} and more",
        f"\x1b[32m{SECRET[:9]}\x1b[0m{SECRET[9:]}",
    ],
)
def test_a_known_secret_is_masked_in_every_encoding(written: str) -> None:
    """A value that was given away once is masked where nothing gives it away."""
    redactor = Redactor()
    redactor.collect_secrets(f"export ORDERS_API_KEY={SECRET}")
    output = redactor.redact(f"result: {written}")
    assert not is_readable(output, [SECRET])
    assert SECRET.encode().hex() not in output
    assert "[redacted:api-key#1]" in output
    assert redactor.verify(output) == ()


@pytest.mark.parametrize("before", ["+", "-", "/srv/", "GET /v1/items/", "https://a.example/b/c/"])
def test_base64_begins_after_a_sign_or_a_slash(before: str) -> None:
    """Both are digits of base64, and what they are part of here moves all groups."""
    key = FAMILIES["github"].make(Random(4)).text
    encoded = base64.b64encode(f"machine:\n  user: mina\n  pat: {key}\n".encode()).decode()
    output = Redactor().redact(f"{before}{encoded}\n")
    forms = (output, output.replace(before, "", 1))
    assert not any(is_readable(form, [key]) for form in forms)


def test_verifying_finds_what_is_left() -> None:
    """An output that was put together after masking is checked as a whole."""
    redactor = Redactor()
    redactor.collect_secrets(f"export ORDERS_API_KEY={SECRET}")
    text = f"été {SECRET}"
    assert [text[each.start : each.end] for each in redactor.verify(text)] == [SECRET]


@pytest.mark.parametrize("length", [100, 300_000])
@pytest.mark.parametrize("count", [1, 3, 20, 150])
def test_known_secrets_are_found_in_raw_bytes(count: int, length: int) -> None:
    """However many there are and however much is searched, also those that came between."""
    rng = Random(count)
    secrets = [draw(rng, ALNUM, 33) for _ in range(count)]
    redactor = Redactor()
    for secret in secrets:
        redactor.add(match_secret(secret))
        lines = ["x" * length, secret, "none", base64.b64encode(f"a {secret}".encode()).decode()]
        data = "\n".join(lines).encode()
        found = {data.count(b"\n", 0, at) for at in redactor.find_known(data)}
        assert found == {1, 3}
    written = "\n".join(["words", *secrets])
    places = list(redactor.find_known(written.encode()))
    assert {written[at : at + 33] for at in places} == set(secrets)


def match_secret(secret: str) -> list[Match]:
    """Return the match that a rule reports for a secret."""
    return [Match("token", Confidence.DEFINITE, 0, len(secret), secret.encode())]


def test_words_do_not_spread() -> None:
    """A password that is a word is masked where it is assigned, and nowhere else."""
    redactor = Redactor()
    output = redactor.redact("POSTGRES_PASSWORD=postgresql\nInstall postgresql first.")
    assert output == "POSTGRES_PASSWORD=[redacted:password#1]\nInstall postgresql first."


@pytest.mark.slow
def test_nothing_planted_is_left_in_an_output() -> None:
    """All known families in one output: none can be read, and a second scan is empty."""
    examples = list(iter_examples(WITH_RULE, seed=6, repeats=1))
    redactor = Redactor()
    output = "\n\n".join(redactor.redact(example.text) for example in examples)
    readable = [
        f"{each.family.name} in {each.context}"
        for each in examples
        if any(secret in output for secret in each.secrets)
    ]
    assert (readable, redactor.verify(output)) == ([], ())


@given(st.lists(st.sampled_from([f"API_KEY={SECRET}", "é", " ", "\n", '"', "\\", "x", SECRET])))
def test_masking_twice_changes_nothing(pieces: list[str]) -> None:
    """Tags are not mistaken for secrets, and nothing is left to mask."""
    redactor = Redactor()
    once = redactor.redact("".join(pieces))
    assert redactor.redact(once) == once
    assert find_secrets(once) == ()


def test_personal_data_is_masked_on_request() -> None:
    """Home directory, user, host and e-mail addresses, but not words that contain a name."""
    text = "/home/mina/letterpress on press01: mina <mina@example.org>, minaret, pressroom"
    policy = RedactionPolicy(home="/home/mina", users=("mina",), hosts=("press01",), emails=True)
    assert Redactor(policy).redact(text) == (
        "~/letterpress on [redacted:host#1]: [redacted:user#1] <[redacted:email#1]>,"
        " minaret, pressroom"
    )
    assert Redactor().redact(text) == text


def test_own_patterns_and_allowed_values() -> None:
    """A user can add kinds of secrets, and allow values."""
    policy = RedactionPolicy(
        patterns=(OwnPattern("badge", r"\bB-(\d{4})\b"),), allow=("Hunter2!x", "B?-?9999|9999")
    )
    text = "badges B-1234 and B-9999, password: Hunter2!x, password: Kept0ut!x"
    assert Redactor(policy).redact(text) == (
        "badges B-[redacted:badge#1] and B-9999, password: Hunter2!x,"
        " password: [redacted:password#1]"
    )


def test_definite_findings_only() -> None:
    """Without likely findings only those without doubt are masked."""
    random = "gh" + "p_" + draw(Random(22), ALNUM, 36)
    policy = RedactionPolicy(likely=False)
    assert Redactor(policy).redact(f"see {random}") == f"see {random}"
    assert Redactor().redact(f"see {random}") == "see [redacted:github-token#1]"


def test_a_broken_pattern_is_a_clear_error() -> None:
    """The message names the pattern."""
    policy = RedactionPolicy(patterns=(OwnPattern("broken", "a(b"),))
    with pytest.raises(UsageError, match=r"'a\(b' is not a valid regular expression"):
        find_secrets("text", policy)
