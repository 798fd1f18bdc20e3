"""Secrets that are recognised by what is around them: headers, URLs, command lines, cookies.

The values themselves have no shape of their own, so each is checked against placeholders and
against what programs print in the same places.
"""

import re
from typing import Final

from recollect.redact.checksums import check_basic
from recollect.redact.findings import Confidence
from recollect.redact.known_values import is_placeholder, is_reference
from recollect.redact.randomness import looks_random
from recollect.redact.rule import Check, Rule

_MIN_PASSWORD: Final = 4
_MIN_CREDENTIALS: Final = 12
_SAMPLE_PASSWORDS: Final = frozenset(
    b"pass passwd password pwd secret token user username postgres mysql root admin test guest"
    b" redis mongo db pw x xxx hunter2 rabbitmq minio".split()
)
_COOKIE: Final = re.compile(rb"=\"?([^;\"\s]{12,})")


def _check_header(value: bytes) -> Confidence | None:
    """Judge the credentials of an Authorization header or behind `Bearer`."""
    if is_placeholder(value) or is_reference(value):
        return None
    return Confidence.DEFINITE if looks_random(value) else _check_short(value)


def _check_short(value: bytes) -> Confidence | None:
    """Words follow `bearer` in prose; a short value has to have a digit."""
    return (
        Confidence.LIKELY
        if re.search(rb"[0-9]", value) and len(value) >= _MIN_CREDENTIALS
        else None
    )


def _check_url_password(value: bytes) -> Confidence | None:
    """Judge the password in `scheme://user:password@host`."""
    if is_reference(value) or value.lower() in _SAMPLE_PASSWORDS or len(value) < _MIN_PASSWORD:
        return None
    return Confidence.LIKELY if is_placeholder(value) else Confidence.DEFINITE


def _check_argument(value: bytes) -> Confidence | None:
    """Judge a password on a command line."""
    if is_placeholder(value) or is_reference(value) or value.lower() in _SAMPLE_PASSWORDS:
        return None
    if looks_random(value):
        return Confidence.DEFINITE
    return Confidence.LIKELY if re.search(rb"[^A-Za-z]", value) else None


def _check_user_and_password(value: bytes) -> Confidence | None:
    return _check_argument(value.partition(b":")[2])


def _check_cookies(value: bytes) -> Confidence | None:
    """Judge a Cookie header: one random value makes all of it a secret."""
    values = _COOKIE.findall(value)
    if any(map(looks_random, values)):
        return Confidence.DEFINITE
    has_digits = any(re.search(rb"[0-9]", each) for each in values)
    return Confidence.LIKELY if has_digits else None


def _check_token_as_user(value: bytes) -> Confidence | None:
    return Confidence.LIKELY if looks_random(value) and not is_placeholder(value) else None


def _context(kind: str, keywords: str, pattern: str, check: Check) -> Rule:
    return Rule(
        kind, tuple(keywords.split("|")), pattern, check=check, reach=1_000, standalone=False
    )


CONTEXT_RULES: Final[tuple[Rule, ...]] = (
    _context(
        "basic-auth",
        "basic",
        r"(?i)basic\s+([A-Za-z0-9+/_\-]{8,}={0,2})",
        check_basic,
    ),
    _context(
        "bearer-token",
        "bearer",
        r"(?i)bearer\s+[\"'`]?([A-Za-z0-9._~+/\-:|]{12,}={0,2})",
        _check_header,
    ),
    _context(
        "authorization",
        "authorization",
        r"(?i)authorization[\"'`]{0,2}\s{0,3}[:=,]\s{0,3}[\"'`]{0,2}"
        r"(?:[A-Za-z][A-Za-z0-9\-]{2,20}[ =])?([A-Za-z0-9._~+/\-:|]{12,}={0,2})",
        _check_header,
    ),
    _context(
        "connection-string",
        "://",
        r"://[^\s/:@\"'`<>\\]{0,100}:([^\s/@\"'`<>]{1,200})@[A-Za-z0-9\[]",
        _check_url_password,
    ),
    # A password may contain @ and / although it should not.
    _context(
        "connection-string",
        "://",
        r"://[^\s/:@\"'`<>\\]{1,100}:([^\s\"'`<>/]{1,200})@[A-Za-z0-9][A-Za-z0-9.\-]{2,}[:/]",
        _check_url_password,
    ),
    _context(
        "token-in-url",
        "://",
        r"://([A-Za-z0-9_\-]{20,200})(?::x-oauth-basic)?@",
        _check_token_as_user,
    ),
    _context(
        "command-password",
        "curl|wget|http ",
        r"(?:curl|wget|http)\s[^\n]{0,400}?\s(?:-u|--user|-a|--auth)[ =]?[\"']?"
        r"([^\s:\"']{1,60}:[^\s\"']{4,})",
        _check_user_and_password,
    ),
    _context(
        "command-password",
        "mysql|mariadb",
        r"(?:mysql|mariadb)[a-z\-]*\s[^\n|]{0,200}?\s-p[\"']?([^\s\"'\-][^\s\"']{5,})",
        _check_argument,
    ),
    _context(
        "command-password",
        "sshpass|redis-cli|docker login|podman login|htpasswd",
        r"(?:sshpass|redis-cli|(?:docker|podman) login|htpasswd)[^\n|]{0,200}?\s(?:-p|-a)\s?"
        r"[\"']?([^\s\"'\-][^\s\"']{3,})",
        _check_argument,
    ),
    _context(
        "command-password", "pass:", r"pass:([^\s\"',;)]{4,})", _check_argument
    ),
    _context(
        "cookie",
        "cookie",
        r"(?i)cookie[\"'`]{0,2}(?:\s{0,3}[:=,]\s{0,3}b?[\"'`]{0,2}|\s{1,2}[\"'`])([A-Za-z0-9_.$!\-]{1,60}=[^\n\r\"'`]{8,})",
        _check_cookies,
    ),
    # netrc, and the same words in FTP scripts.
    _context(
        "password",
        "machine ",
        r"machine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"']{4,})",
        _check_argument,
    ),
    _context(
        "wireguard-key",
        "privatekey",
        r"(?i)PrivateKey\s*=\s*([A-Za-z0-9+/]{43}=)",
        _check_header,
    ),
)  # fmt: skip
"""Rules for values that only their surroundings give away."""
