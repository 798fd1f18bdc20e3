"""BLAKE2 without `hashlib`, which loads OpenSSL: 3 ms and 3.5 MB, not needed for reading a history.

The function is the same one; the interpreter has only this implementation. For others, and where
loading time does not matter, use `hashlib`.
"""

from _blake2 import blake2b

__all__ = ["blake2b"]
