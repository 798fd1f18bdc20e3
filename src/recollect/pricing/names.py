"""What a model is called: one name for the many spellings that reach a transcript.

Knows the spellings of clouds and routers, and refuses to know which models exist. Short names such
as `opus` are left alone: they stand in settings only, and what they meant on a day is not recorded.
"""

import re

SYNTHETIC = "<synthetic>"
"""The model of messages that the client wrote itself; nobody was asked, so nothing is billed."""

_CONTEXT_SUFFIX = "[1m]"
_PROVIDER = re.compile(r"^.*anthropic[./]")
_REVISION = re.compile(r"-v\d+(:\d+)?$")
_DATE = re.compile(r"-\d{8}$")


def normalise_model(name: str) -> str:
    """The name without context suffix, provider, region and revision; a date stays on it."""
    name = name.strip().removesuffix(_CONTEXT_SUFFIX)
    name = _PROVIDER.sub("", name)
    return _REVISION.sub("", name).replace("@", "-")


def spellings(name: str) -> tuple[str, str, str]:
    """The names to look a model up by, the most exact one first."""
    normal = normalise_model(name)
    return name.strip(), normal, _DATE.sub("", normal)
