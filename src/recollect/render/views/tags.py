"""Text between the tags that clients wrap around what they write into a conversation."""

from collections.abc import Iterator


def find_inside(text: str, tag: str) -> str:
    """What stands between the first `tag` and its end, or the end of the text; "" without one."""
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip("\n")


def split_at(text: str, tag: str) -> Iterator[str]:
    """The insides of all `tag`s of `text`."""
    for piece in text.split(f"<{tag}>")[1:]:
        yield piece.partition(f"</{tag}>")[0]
