"""Texts without secrets that look as if they had some, drawn from a random number generator."""

import base64
import json
import textwrap
import uuid
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from tests.redact.made_up_secrets import ALNUM, BASE64, HEX, LOWER, draw

_WORDS: Final = (
    "add fix the a token count for secret santa page password reset flow when key bindings change "
    "api reads credentials from environment and author of session author keyboard cache tokens "
    "authorization header is required basic support bearer of news cookie banner private method"
).split()


def _prose(rng: Random) -> str:
    words = " ".join(rng.choices(_WORDS, k=rng.randint(6, 18)))
    return f"- {words.capitalize()} (#{rng.randint(1, 9999)}).\n"


def _hashes(rng: Random) -> str:
    return (
        f"commit {draw(rng, HEX, 40)}\nindex {draw(rng, HEX, 7)}..{draw(rng, HEX, 7)} 100644\n"
        f"{draw(rng, HEX, 64)}  dist/letterpress-1.{rng.randint(0, 9)}.0.tar.gz\n"
        f'sha256:{draw(rng, HEX, 64)}\nETag: "{draw(rng, HEX, 32)}"\n'
    )


def _ids(rng: Random) -> str:
    record = {
        "uuid": str(uuid.UUID(int=rng.getrandbits(128))),
        "parentUuid": str(uuid.UUID(int=rng.getrandbits(128))),
        "requestId": "req_011C" + draw(rng, ALNUM, 20),
        "message": {"id": "msg_01" + draw(rng, ALNUM, 22), "usage": {"input_tokens": 12}},
        "tool_use_id": "toolu_01" + draw(rng, ALNUM, 22),
    }
    return json.dumps(record) + "\n"


def _lockfile(rng: Random) -> str:
    name = draw(rng, LOWER, 8)
    return (
        f'    "node_modules/{name}": {{\n      "version": "{rng.randint(0, 9)}.2.0",\n'
        f'      "integrity": "sha512-{draw(rng, BASE64, 86)}==",\n'
        f'      "resolved": "https://registry.example.org/{name}/-/{name}-1.2.0.tgz"\n    }},\n'
    )


def _signature(rng: Random) -> str:
    return json.dumps({"type": "thinking", "signature": draw(rng, BASE64, 340) + "=="}) + "\n"


def _image(rng: Random) -> str:
    return f"data:image/png;base64,{base64.b64encode(rng.randbytes(3_000)).decode()}\n"


def _small_image(rng: Random) -> str:
    """An icon of a few bytes, as records and pages have it."""
    first = rng.choice([b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"GIF89a", b"RIFF\x24\0\0\0WEBPVP8 "])
    data = base64.b64encode(first + rng.randbytes(rng.randint(30, 90))).decode()
    return (
        json.dumps({"type": "base64", "media_type": "image/png", "data": data})
        + f"\n<img src='data:image/webp;base64,{base64.b64encode(rng.randbytes(40)).decode()}'>\n"
    )


def _printed_image(rng: Random) -> str:
    """An icon as `base64` prints it, and that output in JSON."""
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + rng.randbytes(rng.randint(60, 900)))
    lines = "\n".join(textwrap.wrap(data.decode(), rng.choice([60, 64, 76])))
    return f"$ base64 icon.png\n{lines}\n" + json.dumps({"stdout": lines}) + "\n"


def _minified(rng: Random) -> str:
    names = [draw(rng, LOWER, 2) for _ in range(6)]
    a, b, c, d, e, f = names
    return (
        f"!function({a},{b}){{var {c}={a}.key||{b}.token;{d}.password={e}.value,{f}(`${{{c}}}`);"
        f"{a}.setItem('auth_token',{b}.accessToken);"
        f"for(var t=0;t<{c}.length;t++){d}[t]^=0x5f}}(e,t);"
    )


def _code(rng: Random) -> str:
    name = draw(rng, LOWER, 7)
    return (
        f"    {name}_token = os.environ['{name.upper()}_TOKEN']\n"
        f"    password = getpass.getpass(f'Password for {{{name}}}: ')\n"
        f"    client = Client(api_key=settings.{name.upper()}_API_KEY, secret=self.secret)\n"
        f"    if token.type == Token.{name.upper()} and key in self.keys:\n"
        f"export {name.upper()}_API_KEY=<your-api-key>\nDB_PASSWORD=${{DB_PASSWORD}}\n"
        f"SECRET_KEY=changeme\nTOKEN=xxxxxxxxxxxxxxxxxxxxxxxx\n"
    )


def _names(rng: Random) -> str:
    """Names in code that change their case as often as random characters do."""
    number = rng.randint(1, 9)
    return (
        f"    control_key_state = event.ControlKeyState{number}\n"
        f"    if token is Token.Name.Function or e.key === `UIKeyInputLeftArrow`:\n"
        f"    exports{number}.SOCKS5_CUSTOM_AUTH_END = exports{number}.SOCKS5_CUSTOM_AUTH_START\n"
        f"    'polyform-small-business-1.0.{number}': 'BSD-3-Clause-No-Nuclear-License-2014',\n"
        f"    from .leakcheck import fails_leakcheck_on_py31{number}_or_less\n"
    )


def _bundle(rng: Random) -> str:
    return (
        f"dist/assets/index-{draw(rng, ALNUM, 8)}.js  chunk-{draw(rng, HEX, 20)}.js\n"
        f"{rng.randint(1, 31)} Nov 10:02 test_redaction_of_tokens_in_{draw(rng, LOWER, 9)}.py\n"
        f"mcp__{uuid.UUID(int=rng.getrandbits(128))}__list_issues\n"
    )


KINDS: Final[Mapping[str, Callable[[Random], str]]] = {
    "prose": _prose,
    "hashes": _hashes,
    "ids": _ids,
    "lockfile": _lockfile,
    "signature": _signature,
    "image": _image,
    "small image": _small_image,
    "printed image": _printed_image,
    "minified": _minified,
    "code": _code,
    "names": _names,
    "bundle": _bundle,
}


def make_harmless(seed: int, kind: str, size: int) -> str:
    """Return at least `size` characters of one kind."""
    rng = Random(seed)
    pieces: list[str] = []
    length = 0
    while length < size:
        pieces.append(KINDS[kind](rng))
        length += len(pieces[-1])
    return "".join(pieces)
