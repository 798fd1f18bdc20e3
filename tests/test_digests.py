"""Tests of recollect.digests: a hash function that is cheap to load."""

import hashlib

from recollect.digests import blake2b
from tests.process import run_python


def test_it_is_the_function_of_hashlib() -> None:
    """Hashes stored by an earlier version are still valid."""
    assert blake2b is hashlib.blake2b


def test_it_does_not_load_openssl() -> None:
    """Neither `hashlib` nor its module for OpenSSL is imported."""
    code = "import sys, recollect.digests; print({'hashlib', '_hashlib'} & {*sys.modules})"
    assert run_python("-c", code).stdout == "set()\n"
