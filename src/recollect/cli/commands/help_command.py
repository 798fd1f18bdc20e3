"""`recollect help`: help for a command or a topic."""

import click

from recollect.cli.program import COMMANDS, load_command
from recollect.errors import UsageError

PLACES = """\
How to specify a session, or a place in it

  94791a87             the start of an id, at least four characters
  'flaky test'         words from a title, in any order
  path/to/file.jsonl   a transcript, even outside a Claude directory
  latest, -1           the newest session
  -2, -3 …             the one before it, and so on

  94791a87:3           turn 3 of a session; :-1 is the last one
  94791a87#UUID        a record; `search --json` prints this as `link`
  http://…/s/ID#UUID   a link to the web app

A place can be used wherever a session can. `recollect show --at PLACE -C 2` shows it with two turns
before and after it.
"""

QUERIES = """\
Query syntax of `recollect search`

  timeout retry            both words; case and accents are ignored
  "connection reset"       a phrase
  refact*                  words that start with refact
  timeout -test            timeout, but not test
  ruff OR flake8           either
  /timed? out/i            a regular expression

  project:TEXT  session:ID  role:user|assistant|tool|system  tool:NAME  file:PATH  model:TEXT
  branch:TEXT   is:error|subagent|thinking|prompt|command|summary   since:7d   until:2026-11-15

If few sessions match, other forms of the words, parts of longer names (`transcript_head` in
parse_transcript_header) and results without all of the words are found too.
"""

EXIT_CODES = """\
Exit codes

  0    success
  1    failure: a file could not be written, you declined a confirmation, or Recollect has a bug
  2    usage error
  3    nothing found
  4    damaged or unreadable input, or secrets found; everything else was processed
  5    the index cannot be used
  6    the archive cannot be used or written
  7    `claude` rejected a request, did not respond, or exited unexpectedly
  130  interrupted
  141  broken pipe: the reader closed the output early
"""

TOPICS = {"places": PLACES, "queries": QUERIES, "exit-codes": EXIT_CODES}


@click.command("help")
@click.argument("topic", required=False, metavar="[TOPIC]")
@click.pass_context
def help_command(ctx: click.Context, topic: str | None) -> int:
    """Show help for a command or a topic.

    TOPIC is the name of a command, or one of places, queries and exit-codes. Without it, all
    commands are listed.

    \b
      recollect help
      recollect help search
      recollect help places
    """
    if topic in TOPICS:
        click.echo(TOPICS[topic].rstrip())
    elif topic in COMMANDS:
        click.echo(_explain(ctx, topic))
    elif topic is None:
        root = ctx.find_root()
        click.echo(root.command.get_help(root))
        click.echo(f"\nTopics: {', '.join(TOPICS)}. See `recollect help TOPIC`.")
    else:
        known = ", ".join(TOPICS)
        raise UsageError(f"No help for {topic!r}. Use a command, or one of {known}.")
    return 0


def _explain(ctx: click.Context, name: str) -> str:
    found = load_command(name)
    with found.make_context(name, [], parent=ctx.find_root(), resilient_parsing=True) as inner:
        return found.get_help(inner)
