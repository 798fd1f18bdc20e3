"""Mutate valid lines into broken ones, by structure and by bytes.

Structure: a value gets another type, is removed, duplicated, nested too deep or made too large.
What Python cannot represent (a duplicate key, an integer of 5,000 digits) is inserted as a mark and
replaced by its text after encoding. Bytes: what disks, crashes and careless writers do. All choices
come from the given random numbers, so a seed reproduces a run.
"""

import random
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec

from fuzz.seeds import encode, make_seeds

_TWIN = "\ue000"
"""Prefix of a key that duplicates another one."""

_MARK = re.compile(rb'"\xee\x80\x81(\d+)"')
_TEXTS: tuple[bytes, ...] = (
    b"1" * 5000,
    b"-" + b"9" * 4400,
    b"123456789012345678901234567890",
    b"1e999",
    b"-1e-999",
    b"1.5e3",
    b"-0",
    b"[" * 300 + b"]" * 300,
    b"[" * 1500 + b"]" * 1500,
    b'{"a":' * 600 + b"1" + b"}" * 600,
    b"[" * 700,
    b'"\\ud83d\\u0041"',
    b'"\\udc00\\ud83d"',
    b'"\\ud83d\\ude00"',
    b'"\\q"',
    b'"\\u12"',
    b'"\x01\t\x7f"',
    b'"\xed\xa0\x80"',
    b'"\xff\xfe"',
    b"nul",
    b"[1,]",
    b"{1:2}",
    b"'a'",
    b"undefined",
)
_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2.0, 1e308, 2**63, 2**64, -(2**63) - 1, 10**400),
    *(float("nan"), float("inf"), -float("inf")),
    *("", "x", "5", "assistant", "\ud800", "a\udfffb", "\x00", "\u2028", "\ufeff", "\x1b[31m"),
    *([], {}, [[]], [None], [1, "a"], {"type": 5}, {"type": None}, {"type": "text"}, {"": {}}),
)
_PIECES: tuple[bytes, ...] = (
    *(b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0"),
    *(b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\xf0\x9f", b"null"),
    *(b"\\u", b"\\ud800", b"\\u0000", b'{"type":', b'{"uuid":', b'"}', b"}}", b'{"a":1}', b"<<<<"),
)
_BLANK: tuple[bytes, ...] = (b"", b" ", b"\t \r", b"\r", b"\xef\xbb\xbf", b"\0\0\0", b"null", b"[]")

SEEDS: tuple[bytes, ...] = tuple(encode(seed) for seed in make_seeds())


def make_line(rng: random.Random) -> bytes:
    """Return one line, broken or not; a mutation may have inserted line ends."""
    draw = rng.random()
    if draw < 0.15:
        return rng.choice(SEEDS)
    if draw < 0.17:
        return rng.choice(_BLANK)
    line = _break_structure(rng) if draw < 0.75 else rng.choice(SEEDS)
    if draw > 0.67:
        for _ in range(rng.choice((1, 1, 2, 4))):
            line = rng.choice(_BYTE_MUTATIONS)(rng, line)
    return line


def _break_structure(rng: random.Random) -> bytes:
    value = msgspec.json.decode(rng.choice(SEEDS))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        container, key = _pick(rng, value)
        rng.choice(_STRUCTURE_MUTATIONS)(rng, container, key)
        if not value:
            break
    text = encode(value).replace(_TWIN.encode(), b"")
    return _MARK.sub(lambda match: _TEXTS[int(match[1])], text)


def _pick(rng: random.Random, value: Any) -> tuple[Any, Any]:
    """Return a random object or array in `value`, and a key or index in it."""
    while True:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.3:
            return value, key
        value = inner


def _draw_odd(rng: random.Random) -> Any:
    # A copy, because the next mutation may change it.
    return deepcopy(rng.choice(_ODD))


def _change(rng: random.Random, container: Any, key: Any) -> None:
    container[key] = _draw_odd(rng)


def _change_text(rng: random.Random, container: Any, key: Any) -> None:
    container[key] = f"\ue001{rng.randrange(len(_TEXTS))}"


def _drop(rng: random.Random, container: Any, key: Any) -> None:  # noqa: ARG001
    del container[key]


def _double(rng: random.Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[f"{_TWIN}{key}"] = container[key]
        if rng.random() < 0.6:
            container[rng.choice((key, f"{_TWIN}{key}"))] = _draw_odd(rng)
    else:
        container.append(container[key])


def _rename(rng: random.Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        name = rng.choice(("", "type", "<span>", "\ud800", key.upper(), f"{key}2", "\x00"))
        container[name] = container.pop(key)


def _transplant(rng: random.Random, container: Any, key: Any) -> None:
    donor, position = _pick(rng, msgspec.json.decode(rng.choice(SEEDS)))
    container[key] = donor[position]


def _wrap(rng: random.Random, container: Any, key: Any) -> None:
    inner = container[key]
    container[key] = rng.choice(
        ([inner], [inner, inner, None], {"type": inner}, {"content": inner})
    )


def _stretch(rng: random.Random, container: Any, key: Any) -> None:
    size = rng.choice((100, 300, 3000)) if rng.random() < 0.995 else 60_000
    container[key] = rng.choice(("x", "x y", "\n", "二", '"', "\ud83d")) * size


def _flip(rng: random.Random, line: bytes) -> bytes:
    if not line:
        return line
    position = rng.randrange(len(line))
    return line[:position] + bytes([line[position] ^ 1 << rng.randrange(8)]) + line[position + 1 :]


def _cut_out(rng: random.Random, line: bytes) -> bytes:
    position = rng.randrange(len(line) + 1)
    return line[:position] + line[position + rng.choice((1, 1, 2, 8, 60)) :]


def _insert(rng: random.Random, line: bytes) -> bytes:
    position = rng.randrange(len(line) + 1)
    return line[:position] + rng.choice(_PIECES) + line[position:]


def _truncate(rng: random.Random, line: bytes) -> bytes:
    return line[: rng.randrange(len(line) + 1)]


def _behead(rng: random.Random, line: bytes) -> bytes:
    return line[rng.randrange(len(line) + 1) :]


def _splice(rng: random.Random, line: bytes) -> bytes:
    other = rng.choice(SEEDS)
    return line[: rng.randrange(len(line) + 1)] + other[rng.randrange(len(other) + 1) :]


def _glue(rng: random.Random, line: bytes) -> bytes:
    head = line if rng.random() < 0.5 else _truncate(rng, line)
    return head + rng.choice((b"", b"", b" ", b"\0\0", b",")) + rng.choice(SEEDS)


def _multiply(rng: random.Random, line: bytes) -> bytes:
    position = rng.randrange(len(line) + 1)
    piece = rng.choice((rng.choice(_PIECES), line[position : position + 12], line[:position], line))
    return line[:position] + (piece * rng.choice((2, 10, 300)))[:4000] + line[position:]


def _space_out(rng: random.Random, line: bytes) -> bytes:
    return line.replace(b'":', rng.choice((b'" :', b'":  ', b'"\t:\r')))


def _overwrite(rng: random.Random, line: bytes) -> bytes:
    position = rng.randrange(len(line) + 1)
    run = rng.choice((b"\0", b" ", b"\xff", b"{", b'"', b"\\")) * rng.choice((1, 4, 64))
    return line[:position] + run + line[position + len(run) :]


def _add_nul(rng: random.Random, line: bytes) -> bytes:
    run = b"\0" * rng.choice((1, 16, 400))
    return run + line if rng.random() < 0.7 else line + run


def _add_bom(rng: random.Random, line: bytes) -> bytes:
    return b"\xef\xbb\xbf" * rng.choice((1, 1, 2)) + line


def _end_with_cr(rng: random.Random, line: bytes) -> bytes:
    return line + b"\r" * rng.choice((1, 1, 2))


_STRUCTURE_MUTATIONS: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    *(_change, _change, _change_text, _drop, _double),
    *(_rename, _transplant, _transplant, _wrap, _stretch),
)
_BYTE_MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    *(_flip, _flip, _cut_out, _insert, _insert, _truncate, _behead, _splice, _glue),
    *(_multiply, _space_out, _overwrite, _add_nul, _add_bom, _end_with_cr),
)
