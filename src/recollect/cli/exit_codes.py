"""Exit codes and error messages.

| code | meaning |
|---|---|
| 0 | success |
| 1 | failure: a file could not be written, you declined a confirmation, or Recollect has a bug |
| 2 | usage error |
| 3 | nothing found |
| 4 | damaged or unreadable input, or secrets found; everything else was processed |
| 5 | the index cannot be used |
| 6 | the archive cannot be used or written |
| 7 | `claude` rejected a request, did not respond, or exited unexpectedly |
| 130 | interrupted by the user |
| 141 | broken pipe: the reader closed the output early, as `head` does |
"""

import _thread
import io
import os
import signal
import sys
import time
import types
from collections.abc import Sequence

import click

from recollect.atomic_files import remove_temporary_files
from recollect.errors import RecollectError
from recollect.render.terminal import measure, safe_text

DEBUG_VARIABLE = "RECOLLECT_DEBUG"

FAILED = 1
INTERRUPTED = 130
BROKEN_PIPE = 141

_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
_HOOK_SECONDS = 0.002
"""Seconds to wait: longer than a hook takes to return."""


def run(program: click.Command, arguments: Sequence[str]) -> int:
    """Run `program`, report any error on stderr, and return the exit code."""
    if not _open_streams():
        click.echo(
            "recollect: Standard output is closed. Use >/dev/null to discard output.", err=True
        )
        return FAILED
    _make_streams_lenient()
    try:
        # Not `program.main`, which handles interrupts and broken pipes differently.
        with program.make_context("recollect", list(arguments)) as context:
            code = program.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as request:
        code = request.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        code = BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the outermost frame reports every bug
        code = _report(error)
    _close_stdout()
    return code if isinstance(code, int) else 0


def interrupt(_number: int, frame: types.FrameType | None) -> None:
    """Raise KeyboardInterrupt, deferred during an import: a native module would abort."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT_SYSTEM:
            _interrupt_again()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def die(number: int, _frame: types.FrameType | None) -> None:
    """End as this signal does by default, but without leaving temporary files."""
    remove_temporary_files()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def repeat_lost_interrupt(lost: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again that Python would drop, for example in a destructor."""
    if lost.exc_type is KeyboardInterrupt:
        _interrupt_again()
    else:
        sys.__unraisablehook__(lost)


def _interrupt_again() -> None:
    # From a thread: raised here, it would be lost again.
    _thread.start_new_thread(_interrupt_soon, (_thread.get_ident(),))


def _interrupt_soon(thread: int) -> None:
    time.sleep(_HOOK_SECONDS)
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:
        # A real signal also interrupts a blocking system call.
        signal.pthread_kill(thread, signal.SIGINT)


def _report(error: Exception) -> int:
    """Print an error message and return its exit code."""
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
    """Wrap `message` at word boundaries if stderr is a terminal."""
    if not sys.stderr.isatty():
        return message
    from recollect.cli.terminal_output import count_columns  # for failures only

    columns = count_columns()
    return "\n".join(piece for line in message.split("\n") for piece in _break(line, columns))


def _break(line: str, columns: int) -> list[str]:
    # Indented lines are preformatted, such as a caret below a query.
    if line.startswith(" ") or measure(line) <= columns:
        return [line]
    from textwrap import wrap  # for failures only

    return wrap(line, columns, break_long_words=False, break_on_hyphens=False)


def _explain_usage(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "recollect"
    remedy = f"Try `{path} --help`."
    message = error.format_message()
    if context and message.startswith(_TOO_MANY) and _takes_session(context.command):
        remedy = f"Put words of a title in quotes: `{path} 'flaky test'`."
    return f"{message}\n{remedy}"


_TOO_MANY = "Got unexpected extra argument"


def _takes_session(command: click.Command) -> bool:
    arguments = (each for each in command.params if isinstance(each, click.Argument))
    return any("SESSION" in (each.metavar or each.human_readable_name) for each in arguments)


def _explain_system_error(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or type(error).__name__}"


def _explain_bug(error: Exception) -> str:
    """Report only the type of the error: its text may contain private data."""
    if os.environ.get(DEBUG_VARIABLE):
        from traceback import format_exception  # for failures only

        return "".join(format_exception(error)).rstrip()
    return (
        f"internal error ({type(error).__name__}). This is a bug in Recollect.\n"
        f"Run it again with {DEBUG_VARIABLE}=1 for a traceback, and please report it."
    )


def _open_streams() -> bool:
    """Replace closed standard streams by the null device; return whether stdout was open.

    Otherwise the next file to be opened would get the number of the closed stream.
    """
    # Each call gets the lowest free number, which is that of its stream.
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - open until exit
    if sys.stdout is None:
        os.open(os.devnull, os.O_WRONLY)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - open until exit
    return sys.stdout is not None


def _make_streams_lenient() -> None:
    """Escape characters that the terminal cannot show instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _close_stdout() -> None:
    """Discard output that cannot be written: Python would report it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
