"""Quick checks of what follows a name like `token` or `password`: may it be a secret?

They work on raw lines and on texts, so quotes may be escaped, encoded or coloured. They reject most
uses of such words in code and prose, so that the rules need not run, and don't reject a secret.
"""

from functools import lru_cache
from typing import Final

from recollect.lazy_patterns import compile_lazily
from recollect.redact.plain_view import count_digits, iter_runs, make_marks

_ENCODED: Final = rb"&(?:quot|apos|#3[49]|#x2[27]);|%(?:2[027]|60|5C)"
"""Quotes as entities, and quotes, blanks and backslashes percent-encoded."""
QUOTE: Final = rb"(?:[\\\"'`]|" + _ENCODED + rb")"
"""A pattern for a quote, in any of these forms."""
_COLOUR: Final = rb"\\{1,4}u001b\[[0-9;]{0,12}[mK]"
_ASSIGNMENT: Final = (
    # The rest of a name, optional words, closing characters, an assignment and opening characters.
    rb"[\w.\-]{0,44}+(?: {1,3}[\w.\-]{1,24}+){0,3}?"
    rb"(?:[\"'`\])}\s]|" + _COLOUR + rb"|\\|" + _ENCODED + rb"){0,40}+"
    rb"(?:[=:]|%3[AD]?+|u00|\x1b|\[[0-9]|&|value|(?:is|was|to|of|as)[ \t]"
    rb"|(?<=[\"'`;])|(?<=%2[27])|(?<=%60))"
    rb"(?:[^A-Za-z0-9\\&%]|" + _COLOUR + rb"|" + _ENCODED + rb"|[\\&%]){0,40}+"
)
_SHORT_VALUE: Final = compile_lazily(_ASSIGNMENT + rb"([^\s\"'`,;<>]{5})")
_LONG_VALUE: Final = compile_lazily(_ASSIGNMENT + rb"([^\s\"'`,;<>]{15})")
_VALUE_SAMPLE: Final = 24
_OPTION: Final = compile_lazily(rb"-[\w.]*")
_OPTION_END: Final = compile_lazily(rb"[\w.\-]*[\s\\%\x1b\[&:=]")
"""A blank, an escape that may hide one, or the colon after the name of a header."""
_OPTION_REACH: Final = 40
_NAME_REACH: Final = 200
"""Bytes after a name in which its value is searched for."""
_NEAR: Final = 96
_NEAR_MARKS: Final = make_marks(rb"[A-Za-z0-9_.~\-]")
_MIN_NEAR_WORD: Final = 20
_MIN_DIGITS: Final = 3


def may_be_password(data: bytes, start: int) -> bool:
    """Return whether the name at a position may be followed by a password, however short."""
    return _SHORT_VALUE.match(data, start) is not None or _may_be_argument(data, start)


def may_be_assigned(data: bytes, start: int) -> bool:
    """Return whether the name at a position may be followed by a random value."""
    first = max(0, start - _OPTION_REACH)
    return _is_assigned(data[first : start + _NAME_REACH], start - first)


@lru_cache(maxsize=4096)
def _is_assigned(around: bytes, start: int) -> bool:
    """Return the result of `may_be_assigned`; cached, because most output is recorded twice."""
    found = _LONG_VALUE.match(around, start)
    if found is not None:
        value = around[found.start(1) : found.start(1) + _VALUE_SAMPLE]
        # A random value has digits or both cases.
        if value != value.lower() or count_digits(value):
            return True
    return _may_be_argument(around, start)


def _may_be_argument(data: bytes, start: int) -> bool:
    """Return whether a name is a command-line option, or a token is near."""
    return _is_option(data, start) or is_near_token(data, start)


def _is_option(data: bytes, start: int) -> bool:
    dash = data.rfind(b"-", max(0, start - _OPTION_REACH), start)
    return (
        dash >= 0
        and _OPTION.fullmatch(data, dash, start) is not None
        and _OPTION_END.match(data, start) is not None
    )


def is_near_token(data: bytes, start: int) -> bool:
    """Return whether a long word with digits follows, which is suspicious near such a name."""
    # With the byte before, to recognise a word that begins before the name.
    around = data[max(0, start - 1) : start + _NEAR]
    for begin, end in iter_runs(around, _NEAR_MARKS, _MIN_NEAR_WORD):
        if begin or not start:
            return count_digits(around[begin:end]) >= _MIN_DIGITS
    return False
