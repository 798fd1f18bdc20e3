"""Checks that only a real value passes: checksums, and headers that have to decode."""

import base64
import binascii
import json
import zlib
from typing import Final

from recollect.redact.findings import Confidence

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECKSUM_LENGTH: Final = 6


def check_crc(value: bytes) -> Confidence:
    """Return how sure a token of GitHub or npm is: its last six characters are a checksum.

    A wrong checksum makes it likely only: it may be made up, or mistyped when it was pasted.
    """
    body = value.split(b"_", 1)[1]
    body, expected = body[:-_CHECKSUM_LENGTH], body[-_CHECKSUM_LENGTH:]
    is_right = encode_base62(zlib.crc32(body)) == expected.decode("ascii", "replace")
    return Confidence.DEFINITE if is_right else Confidence.LIKELY


def encode_base62(number: int) -> str:
    """Return a checksum as GitHub writes it, padded with zeros."""
    digits = ""
    while number:
        number, digit = divmod(number, len(_BASE62))
        digits = _BASE62[digit] + digits
    return digits.rjust(_CHECKSUM_LENGTH, "0")


def check_jwt(value: bytes) -> Confidence | None:
    """Return how sure a JSON web token is: its header has to name an algorithm."""
    header = _decode_url_safe(value.split(b".", 1)[0])
    try:
        fields = json.loads(header)
    except ValueError:
        return Confidence.LIKELY
    return Confidence.DEFINITE if isinstance(fields, dict) and "alg" in fields else None


def check_basic(value: bytes) -> Confidence | None:
    """Return how sure the value of a Basic header is: it has to be `user:password` in base64."""
    try:
        pair = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return None
    user, colon, password = pair.partition(b":")
    if not colon or not password or not user.decode("utf-8", "replace").isprintable():
        return None
    return Confidence.DEFINITE


def _decode_url_safe(part: bytes) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))
    except binascii.Error:
        return b""
