"""Results of the file tools and the shell, as a client writes them."""

import difflib

from tools.demo_stories.meter import Json

_PREVIEW = 2000
_KEPT = 30_000


def number_lines(text: str, start: int = 1) -> str:
    """Return a file as `Read` shows it to the model."""
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(text.splitlines(), start))


def read_result(path: str, text: str) -> Json:
    """Return the result of `Read` for a whole text file."""
    count = len(text.splitlines())
    file = {
        "filePath": path,
        "content": text,
        "numLines": count,
        "startLine": 1,
        "totalLines": count,
    }
    return {"type": "text", "file": file}


def patch(before: str, after: str) -> list[Json]:
    """Return the hunks between two texts."""
    hunks: list[Json] = []
    for line in list(
        difflib.unified_diff(before.splitlines(), after.splitlines(), n=3, lineterm="")
    )[2:]:
        if line.startswith("@@"):
            old, new = (tuple(map(int, part[1:].split(","))) for part in line.split()[1:3])
            hunks.append({**_range("old", old), **_range("new", new), "lines": []})
        else:
            hunks[-1]["lines"].append(line)
    return hunks


def _range(side: str, numbers: tuple[int, ...]) -> Json:
    return {f"{side}Start": numbers[0], f"{side}Lines": numbers[1] if len(numbers) > 1 else 1}


def edit_result(path: str, before: str, old: str, new: str) -> Json:
    """Return the result of `Edit`."""
    return {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": patch(before, before.replace(old, new, 1)),
        "userModified": False,
        "replaceAll": False,
    }


def write_result(path: str, text: str) -> Json:
    """Return the result of `Write` for a new file."""
    return {
        "type": "create",
        "filePath": path,
        "content": text,
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }


def shell_result(output: str, **fields: object) -> Json:
    """Return the result of a successful command."""
    return {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, **fields}


def spilled(output: str, path: str) -> tuple[str, Json]:
    """Return the preview of output that was too large for the transcript, and the result."""
    size = len(output.encode())
    text = (
        f"<persisted-output>\nOutput too large ({size / 1024:.1f}KB). "
        f"Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{output[:_PREVIEW]}\n...\n</persisted-output>"
    )
    detail = shell_result(output[:_KEPT], persistedOutputPath=path, persistedOutputSize=size)
    return text, detail
