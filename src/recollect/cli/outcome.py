"""How a run ends: the exit code, and all that is said on stderr about a failure.

| code | meaning |
|---|---|
| 0 | done |
| 1 | failed: the output could not be written, or a bug in Recollect |
| 2 | the request itself is wrong |
| 3 | nothing found |
| 4 | an input is damaged or cannot be read; the report is complete all the same |
| 5, 6 | the index, the archive cannot be used |
| 130 | interrupted by the user |
| 141 | whoever read the output stopped reading, as `head` does |
"""

import io
import os
import sys
import textwrap
import traceback
from collections.abc import Sequence

import click

from recollect.errors import RecollectError
from recollect.render.terminal import measure, safe_text

DEBUG_VARIABLE = "RECOLLECT_DEBUG"

FAILED = 1
INTERRUPTED = 130
READER_LEFT = 141


def run(program: click.Command, arguments: Sequence[str]) -> int:
    """Run `program` and return its exit code; whatever goes wrong has been said by then."""
    _make_streams_lenient()
    try:
        # Not `program.main`, which has ways of its own to end on an interrupt or a broken pipe.
        with program.make_context("recollect", list(arguments)) as context:
            code = program.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as request:
        code = request.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        code = READER_LEFT
    except Exception as error:  # noqa: BLE001 - the outermost frame: no bug may look like an answer
        code = _report(error)
    _settle_stdout()
    return code if isinstance(code, int) else 0


def _report(error: Exception) -> int:
    """Say what went wrong and return the exit code for it."""
    match error:
        case RecollectError():
            message, code = str(error), error.exit_code
        case click.ClickException():
            message, code = _explain_usage(error), error.exit_code
        case OSError():
            message, code = _explain_system_error(error), FAILED
        case _:
            message, code = _explain_bug(error), FAILED
    click.echo(_fit(f"recollect: {safe_text(message)}"), err=True)
    return code


def _fit(message: str) -> str:
    """`message` broken between words where a terminal would break within one."""
    if not sys.stderr.isatty():
        return message
    from recollect.cli.tables import count_columns  # noqa: PLC0415 - for failures only

    columns = count_columns()
    return "\n".join(piece for line in message.split("\n") for piece in _break(line, columns))


def _break(line: str, columns: int) -> list[str]:
    # What is indented is set out, such as a caret below a query.
    if line.startswith(" ") or measure(line) <= columns:
        return [line]
    return textwrap.wrap(line, columns, break_long_words=False, break_on_hyphens=False)


def _explain_usage(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "recollect"
    return f"{error.format_message()}\nTry `{path} --help`."


def _explain_system_error(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or type(error).__name__}"


def _explain_bug(error: Exception) -> str:
    """The name of the error only: its text may hold somebody's words."""
    if os.environ.get(DEBUG_VARIABLE):
        return "".join(traceback.format_exception(error)).rstrip()
    return (
        f"internal error ({type(error).__name__}). This is a bug in Recollect.\n"
        f"Run it again with {DEBUG_VARIABLE}=1 to see where, and please report it."
    )


def _make_streams_lenient() -> None:
    """A terminal that cannot show a character gets its number instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _settle_stdout() -> None:
    """Send what cannot be written nowhere: Python's flush at exit would complain a second time."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
