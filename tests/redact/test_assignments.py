"""Tests of recollect.redact.assignments."""

import pytest

from recollect.redact.assignments import is_near_token, may_be_assigned, may_be_password

VALUE = "Zk3vQ9xWb7Lm2Rt8Yc5N"


@pytest.mark.parametrize(
    "line",
    [
        f"token={VALUE}",
        f'token_of_the_app: "{VALUE}"',
        f"token for the staging server is {VALUE}",
        rf"\"token\": \"{VALUE}\"",
        f"token&quot;: &quot;{VALUE}",
        f"token%3D{VALUE}",
        rf"token\u001b[0m=\u001b[32m{VALUE}",
        f"--token {VALUE[:8]}",
        "token: see b7lm2rt8yc5n-zk3vq9xw-2041",
    ],
)
def test_a_random_value_may_be_assigned(line: str) -> None:
    """However its quotes are written; a value near the name or after an option is enough."""
    assert may_be_assigned(line.encode(), line.index("token"))


@pytest.mark.parametrize(
    "line",
    [
        "token",
        "token bucket for the rate limit",
        "token = session.refresh(force)",
        "token: a value",
        f"token\n\n{'x' * 90}\n{VALUE}",
    ],
)
def test_words_and_code_are_no_value(line: str) -> None:
    """Code has neither digits nor both cases, and what is far away belongs to something else."""
    assert not may_be_assigned(line.encode(), 0)


def test_a_password_may_be_short() -> None:
    """Five characters are enough for a password, but not for a token."""
    assert may_be_password(b"password: reef7", 0)
    assert not may_be_assigned(b"password: reef7", 0)
    assert not may_be_password(b"password: reef", 0)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"key b7lm2rt8yc5n-zk3vq9xw-2041", True),
        (b"key of-a-name-that-is-long-but-has-no-digits", False),
        (b"key b7lm2rt8yc5n", False),
        (b"key" + b" " * 100 + VALUE.encode(), False),
    ],
)
def test_a_token_is_near(line: bytes, expected: bool) -> None:
    """It has twenty characters, three of them digits."""
    assert is_near_token(line, 0) is expected
