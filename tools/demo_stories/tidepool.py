"""Three sessions on `tidepool`, a command-line program for tide tables."""

from tools.demo_stories.files import (
    edit_result,
    number_lines,
    read_result,
    shell_result,
    spilled,
    write_result,
)
from tools.demo_stories.meter import Json
from tools.demo_stories.writer import HOME, NO_LEAF, Chain, Session, call, say, think

CWD = f"{HOME}/projects/tidepool"
CLIENT = "2.1.325"
MODEL = "claude-opus-5-5"

FORECAST_TEST = """\
from datetime import datetime, timedelta

from tidepool.forecast import next_high_tide


def test_next_high_tide_is_today():
    now = datetime.now()
    tide = next_high_tide("Brest", after=now)
    assert tide.time - now < timedelta(hours=13)
    assert tide.time.date() == now.date()
"""
FLAKY = "    assert tide.time.date() == now.date()\n"
SOLID = "    assert tide.time > now\n"

CLI = """\
import argparse

from tidepool.forecast import next_high_tide


def main() -> None:
    parser = argparse.ArgumentParser(prog="tidepool")
    parser.add_argument("harbour")
    options = parser.parse_args()
    tide = next_high_tide(options.harbour)
    print(f"{tide.time:%H:%M}  {tide.height:.1f} m")
"""
PRINT = '    print(f"{tide.time:%H:%M}  {tide.height:.1f} m")\n'
PRINT_JSON = """\
    if options.json:
        print(json.dumps({"time": tide.time.isoformat(), "height": tide.height}))
    else:
        print(f"{tide.time:%H:%M}  {tide.height:.1f} m")
"""

# A picture of one grey pixel: the story needs an image, not its content.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
)


def make_tidepool() -> list[Session]:
    """Return the sessions, oldest first."""
    return [_fix_flaky_test(), _add_json_flag(), _speed_up_import()]


def _fix_flaky_test() -> Session:
    session = Session("flaky", CWD, CLIENT, "2026-10-21T08:12:04", branch="fix/flaky-tide")
    session.open("Bash", "Edit", "Grep", "Read", "TaskCreate", "TaskUpdate")
    chain = Chain(session, MODEL)
    request = (
        "test_next_high_tide_is_today fails once a week, always at night. Find out why and fix it."
    )
    session.take_snapshot(chain.prompt(request, gap=0))
    chain.set_scene()
    task = {"id": "1", "subject": "Make the tide test independent of the clock"}
    chain.use(
        call(
            "TaskCreate",
            subject=task["subject"],
            description="Fails at night only",
            activeForm="Fixing the test",
        ),
        "Task #1 created successfully: Make the tide test independent of the clock",
        {"task": task},
        think(
            "Once a week and at night: that smells of midnight. The test compares dates, I suppose."
        ),
        say("I'll note that down and look at the test."),
    )
    test = f"{CWD}/tests/test_forecast.py"
    asked = chain.answer(
        call("Grep", pattern="datetime.now", path=f"{CWD}/tests", output_mode="content"),
        call("Read", file_path=test),
    )
    hit = "tests/test_forecast.py:7:    now = datetime.now()"
    found = {"mode": "content", "numFiles": 0, "filenames": [], "content": hit, "numLines": 1}
    chain.result(asked[0], hit, found)
    chain.result(asked[1], number_lines(FORECAST_TEST), read_result(test, FORECAST_TEST))
    command = "faketime '23:40' python -m pytest -q tests/test_forecast.py"
    failure = (
        "Exit code 1\nF\nE   AssertionError: assert date(2026, 10, 22) == date(2026, 10, 21)\n"
        "1 failed in 0.31s"
    )
    chain.use(
        call("Bash", command=command, description="Run the test shortly before midnight"),
        failure,
        f"Error: {failure}",
        say(
            "The next high tide may be after midnight, and then its date is tomorrow's. "
            "Let me prove it."
        ),
    )
    edited = chain.use(
        call("Edit", file_path=test, old_string=FLAKY, new_string=SOLID),
        f"The file {test} has been updated.",
        edit_result(test, FORECAST_TEST, FLAKY, SOLID),
        think("What the test wants to say: the tide lies ahead, and not further than one cycle."),
    )
    session.back_up(edited.uuid, "tests/test_forecast.py", FORECAST_TEST)
    _queue(chain, "and run the whole suite please, not just that file")
    chain.use(
        call(
            "Bash",
            command="faketime '23:40' python -m pytest -q",
            description="Run all tests near midnight",
        ),
        "41 passed in 3.92s",
        shell_result("41 passed in 3.92s", noOutputExpected=False),
    )
    chain.use(
        call("TaskUpdate", taskId="1", status="completed"),
        "Updated task #1 status",
        {
            "success": True,
            "taskId": "1",
            "updatedFields": ["status"],
            "statusChange": {"from": "pending", "to": "completed"},
        },
    )
    chain.answer(
        say(
            "Fixed. The test compared dates, but shortly before midnight the next high tide is "
            "tomorrow's. It now asserts what it means: the tide lies ahead, within 13 hours.\n\n"
            "All 41 tests pass, also with the clock set to 23:40."
        )
    )
    chain.end_turn(request)
    session.note("ai-title", aiTitle="Fix flaky tide test around midnight")
    session.note_cost(added=1, removed=1, tools_ms=6120)
    done = {
        **task,
        "description": "Fails at night only",
        "status": "completed",
        "blocks": [],
        "blockedBy": [],
    }
    session.add_root_file(f"tasks/{session.id}/1.json", done)
    return session


def _queue(chain: Chain, text: str) -> None:
    """Add a prompt that was typed while the model was busy; it is in no `user` record."""
    session = chain.session
    source, delivery, time = session.make_uuid(), session.make_uuid(), session.wait(2)
    session.note("queue-operation", operation="enqueue", timestamp=time, content=text)
    taken = {"reason": "absorbed_mid_turn", "commandUuid": source, "deliveryId": delivery}
    session.note(
        "queue-operation", operation="remove", timestamp=session.wait(1), content=text, **taken
    )
    session.typed.append((text, int(session.clock.timestamp() * 1000)))
    chain.context.add(text)
    chain.attach(
        "queued_command",
        prompt=text,
        source_uuid=source,
        delivery_id=delivery,
        commandMode="prompt",
        origin={"kind": "human"},
        timestamp=time,
        humanTurn=True,
    )


def _add_json_flag() -> Session:
    session = Session("json-flag", CWD, CLIENT, "2026-11-03T15:40:31", branch="json-output")
    session.open("AskUserQuestion", "Bash", "Edit", "Read")
    chain = Chain(session, MODEL)
    picture: Json = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
    }
    request = "[Image #1] this is what it prints now. Scripts need more: add a --json flag"
    shown: list[Json] = [picture, {"type": "text", "text": request}]
    session.take_snapshot(chain.prompt(shown, gap=0, imagePasteIds=[1]))
    chain.set_scene()
    cli = f"{CWD}/src/tidepool/cli.py"
    chain.use(
        call("Read", file_path=cli),
        number_lines(CLI),
        read_result(cli, CLI),
        say("Let me see how the output is made."),
    )
    chain.answer(
        say(
            "I would print one object per harbour, with local times as text, like `07:12`. "
            "I'll do it now."
        )
    )
    chain.end_turn(request)
    fork = chain.leaf
    chain.prompt("local times, really? think about people who travel", gap=80)
    chain.answer(
        say("You are right, a local time without a zone is ambiguous. UTC would be safer.")
    )
    chain.end_turn("local times, really? think about people who travel")
    session.note("last-prompt", leafUuid=NO_LEAF, explicit=True)
    chain.leaf = fork
    second = "times must carry their zone. Ask me about anything else that scripts will depend on"
    session.take_snapshot(chain.prompt(second, gap=30))
    _ask_about_units(chain)
    _edit_cli(chain, cli)
    _refuse_push(chain)
    session.note("custom-title", customTitle="json flag")
    session.note("agent-name", agentName="json flag")
    session.note_cost(added=6, removed=1, tools_ms=1830)
    return session


def _ask_about_units(chain: Chain) -> None:
    options = [
        {"label": "Metres", "description": "One unit, always; scripts convert"},
        {"label": "As configured", "description": "Follows the user's settings"},
    ]
    question = "Which unit should heights have in the JSON output?"
    questions = [{"question": question, "header": "Unit", "options": options, "multiSelect": False}]
    chain.use(
        call("AskUserQuestion", questions=questions),
        f'User has answered your questions: "{question}"="Metres". You can now continue.',
        {"questions": questions, "answers": {question: "Metres"}},
        think("The unit is part of the contract as well. Everything else follows from the data."),
    )


def _edit_cli(chain: Chain, cli: str) -> None:
    option = '    parser.add_argument("harbour")\n'
    with_json = f'{option}    parser.add_argument("--json", action="store_true")\n'
    first = CLI.replace(option, with_json)
    edited = chain.use(
        call("Edit", file_path=cli, old_string=option, new_string=with_json),
        f"The file {cli} has been updated.",
        edit_result(cli, CLI, option, with_json),
        say("Metres it is. First the option, then the output."),
    )
    chain.session.back_up(edited.uuid, "src/tidepool/cli.py", CLI)
    chain.use(
        call("Edit", file_path=cli, old_string=PRINT, new_string=PRINT_JSON),
        f"The file {cli} has been updated.",
        edit_result(cli, first, PRINT, PRINT_JSON),
    )
    output = '{"time": "2026-11-03T19:26:00+01:00", "height": 6.4}'
    chain.use(
        call("Bash", command="python -m tidepool Brest --json", description="Try the new flag"),
        output,
        shell_result(output),
    )


def _refuse_push(chain: Chain) -> None:
    (asked,) = chain.answer(
        say("It works. Shall I push the branch?"),
        call("Bash", command="git push -u origin json-output", description="Push the branch"),
    )
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    chain.result(
        asked, refusal, "User rejected tool use", seconds=9, toolDenialKind="user-rejected"
    )
    chain.inject("[Request interrupted by user for tool use]")
    chain.end_turn(
        "times must carry their zone. Ask me about anything else that scripts will depend on"
    )


def _speed_up_import() -> Session:
    session = Session("import", CWD, CLIENT, "2026-11-09T09:03:55")
    session.open("Bash", "Edit", "Read", "WebSearch")
    chain = Chain(session, MODEL)
    request = (
        "Importing the harbour list takes four minutes. Profile it and tell me what is slow before "
        "you change anything."
    )
    session.take_snapshot(chain.prompt(request, gap=0))
    chain.set_scene()
    output = _make_profile()
    path = session.add_sidecar("tool-results/bq7xk2m9d.txt", output)
    text, detail = spilled(output, path)
    chain.use(
        call(
            "Bash",
            command="python -m cProfile -s cumulative -m tidepool.importer",
            description="Profile the import",
        ),
        text,
        detail,
        say("I'll profile it first."),
    )
    _fail_twice(chain)
    chain.answer(
        say(
            "Almost all of the time goes into `harbour.normalise`, which compiles the same regular "
            "expression for each of 38,214 harbours, and into one INSERT per row.\n\n"
            "1. Compile the pattern once.\n2. Insert in batches of 500."
        )
    )
    chain.end_turn(request)
    second = "Is there a limit on how many rows one INSERT can have in SQLite?"
    session.take_snapshot(chain.prompt(second))
    _search(chain)
    chain.end_turn(second)
    _compact(chain)
    third = "Good. Do both, pattern and batches."
    session.take_snapshot(chain.prompt(third, gap=20))
    _speed_up(chain)
    chain.end_turn(third)
    session.note("ai-title", aiTitle="Speed up the harbour import")
    session.note_cost(added=7, removed=4, tools_ms=254_310)
    return session


def _make_profile() -> str:
    head = "   ncalls  tottime  cumtime  function\n"
    rows = [
        f"{38214 - number * 61:>9}  {214.7 / (number + 1):>7.3f}  {241.2 / (number + 1):>7.3f}  "
        f"tidepool/importer/step_{number:03}.py:{number * 7 % 90 + 1}(load_harbour_{number:03})\n"
        for number in range(700)
    ]
    return head + "".join(rows)


def _fail_twice(chain: Chain) -> None:
    for attempt, wait in ((1, 587.3), (2, 1103.9)):
        error = {
            "message": "529 Overloaded",
            "status": 529,
            "requestId": chain.session.make_id("req_01"),
            "formatted": "529 Overloaded",
            "connection": None,
            "isNetworkDown": False,
            "rateLimits": None,
            "noResponse": None,
        }
        chain.system(
            "api_error",
            level="error",
            error=error,
            retryInMs=wait,
            retryAttempt=attempt,
            maxRetries=10,
            source="request_retry",
        )
        chain.session.wait(wait / 1000)


def _search(chain: Chain) -> None:
    query = "SQLite limit variables per statement SQLITE_MAX_VARIABLE_NUMBER"
    hits = [
        {"title": "Implementation limits for SQLite", "url": "https://sqlite.example/limits.html"}
    ]
    words = "Since 3.32 a statement may have 32,766 parameters; VALUES has no limit of its own."
    found = [{"tool_use_id": chain.session.make_id("srvtoolu_01"), "content": hits}, words]
    detail = {"query": query, "results": found, "durationSeconds": 2.41, "searchCount": 1}
    chain.use(
        call("WebSearch", query=query),
        f'Web search results for query: "{query}"\n\n{words}',
        detail,
    )
    chain.session.meter.count_unseen(MODEL, output=160, read=0, searches=1)
    chain.answer(
        say(
            "Not on rows, but on parameters: 32,766 per statement. With six columns 500 rows need "
            "3,000, which is safe."
        )
    )


def _compact(chain: Chain) -> None:
    session, before = chain.session, chain.leaf
    summary = (
        "This session is being continued from a previous conversation that ran out of context.\n\n"
        "The user wants the harbour import to be faster and asked for a profile first. Found: "
        "`harbour.normalise` compiles a pattern per call; rows are inserted one by one. SQLite "
        "allows 32,766 parameters per statement, so batches of 500 rows are safe. Nothing has been "
        "changed yet."
    )
    size = chain.context.compact(summary)
    session.meter.count_unseen(MODEL, output=412, read=size)
    chain.leaf = None
    session.wait(40)
    metadata = {"trigger": "manual", "preTokens": size, "postTokens": 14_420, "durationMs": 21_400}
    chain.system(
        "compact_boundary",
        content="Conversation compacted",
        level="info",
        logicalParentUuid=before,
        compactMetadata=metadata,
    )
    chain.inject(summary, isVisibleInTranscriptOnly=True, isCompactSummary=True)
    chain.inject(
        "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args></command-args>"
    )
    chain.inject("<local-command-stdout>Compacted</local-command-stdout>")


def _speed_up(chain: Chain) -> None:
    path = f"{CWD}/src/tidepool/importer/harbour.py"
    before = 'def normalise(name):\n    return re.sub(r"[\\s-]+", " ", name).strip().title()\n'
    old = '    return re.sub(r"[\\s-]+", " ", name)'
    new = '    return _GAPS.sub(" ", name)'
    edited = chain.use(
        call("Edit", file_path=path, old_string=old, new_string=new),
        f"The file {path} has been updated.",
        edit_result(path, before, old, new),
    )
    chain.session.back_up(edited.uuid, "src/tidepool/importer/harbour.py", before)
    batch = f"{CWD}/src/tidepool/importer/batches.py"
    text = (
        "from itertools import batched\n\nROWS = 500\n\n\n"
        "def in_batches(rows):\n    return batched(rows, ROWS)\n"
    )
    written = chain.use(
        call("Write", file_path=batch, content=text),
        f"File created successfully at: {batch}",
        write_result(batch, text),
    )
    chain.session.back_up(written.uuid, "src/tidepool/importer/batches.py", None)
    output = "imported 38,214 harbours in 6.8 s"
    chain.use(
        call("Bash", command="time python -m tidepool.importer", description="Measure the import"),
        output,
        shell_result(output),
    )
    chain.answer(
        say(
            "Done: 6.8 seconds instead of four minutes. Both changes are small, "
            "and the result is the same."
        )
    )
