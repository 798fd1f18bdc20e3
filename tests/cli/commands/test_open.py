"""`recollect open` as a user sees it."""

import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.demo_home import make_demo_home
from tests.process import Finished, RunRecollect

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"
RECORD = "0b2f6c1e-5a0f-4a53-8d0f-2b1f0c6d7e8f"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory, and a home with the demo data."""
    make_demo_home()
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    return data


def open_link(run: RunRecollect, data: Path, *arguments: str) -> Finished:
    """Run the command with that data directory."""
    return run("open", *arguments, env={"RECOLLECT_DATA_DIR": str(data)})


def test_the_link_leads_to_the_running_web_app(run_recollect: RunRecollect, data: Path) -> None:
    """The port is the one that the running server recorded."""
    (data / "server.json").write_text(json.dumps({"pid": os.getpid(), "port": 8123, "new": 1}))
    link = f"http://127.0.0.1:8123/s/{SESSION}"
    assert open_link(run_recollect, data, "harbour") == Finished(0, f"{link}\n", "")
    for target in (f"9479#{RECORD}", f"{link}#{RECORD}"):
        done = open_link(run_recollect, data, target)
        assert done == Finished(0, f"{link}#{RECORD}\n", "")


@pytest.mark.parametrize("state", [None, "{", '{"pid": 0, "port": 1}', '{"pid": 99999999}'])
def test_without_a_web_app_the_message_says_how_to_start_one(
    run_recollect: RunRecollect, data: Path, state: str | None
) -> None:
    """There is no link if the state file is missing, damaged or of a process that has ended."""
    if state is not None:
        (data / "server.json").write_text(state)
    done = open_link(run_recollect, data, "harbour")
    assert done == Finished(
        3,
        "",
        "recollect: The web app is not running. Start it with `recollect serve`, then open "
        f"/s/{SESSION} there.\n",
    )
    assert open_link(run_recollect, data) == Finished(
        3, "", "recollect: The web app is not running. Start it with `recollect serve`.\n"
    )


def test_the_json_form_has_the_path_at_least(run_recollect: RunRecollect, data: Path) -> None:
    """The document has the known fields, and the exit code is that of the missing link."""
    done = open_link(run_recollect, data, "-3", "--json")
    assert (done.code, json.loads(done.stdout)) == (
        3,
        {
            "schema": "recollect.open/1",
            "session_id": SESSION,
            "record": None,
            "path": f"/s/{SESSION}",
            "link": None,
        },
    )


def test_without_a_place_it_is_the_link_of_the_app(run_recollect: RunRecollect, data: Path) -> None:
    """The pages themselves have a link, which a new browser is signed in with."""
    (data / "server.json").write_text(json.dumps({"pid": os.getpid(), "port": 8123}))
    assert open_link(run_recollect, data) == Finished(0, "http://127.0.0.1:8123/\n", "")
    done = open_link(run_recollect, data, "9479:2")
    assert done == Finished(0, f"http://127.0.0.1:8123/s/{SESSION}#turn-2\n", "")


def test_without_a_browser_the_link_that_signs_in_is_printed(
    run_recollect: RunRecollect, data: Path, tmp_path: Path
) -> None:
    """For example on a server reached by SSH."""
    server = HTTPServer(("127.0.0.1", 0), _Launches)
    Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
    (data / "server.json").write_text(json.dumps({"pid": os.getpid(), "port": port}))
    no_browser = {"PATH": str(tmp_path), "BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    environment = {"RECOLLECT_DATA_DIR": str(data), **no_browser}
    try:
        done = run_recollect("open", "9479:2", "--browser", env=environment)
    finally:
        server.shutdown()
        server.server_close()
    app = f"http://127.0.0.1:{port}/s/{SESSION}"
    message = f"Could not open a browser. Use this one-time link: {app}?at=turn-2#t=once"
    assert done == Finished(0, f"{app}#turn-2\n", f"{message}\n")


class _Launches(BaseHTTPRequestHandler):
    """Answers with a token, like the web app."""

    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"token": "once"}')

    def log_message(self, *_: object) -> None:
        """Log nothing."""
