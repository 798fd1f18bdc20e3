"""Starting and ending: the port, the state file, the signals."""

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.errors import UsageError
from recollect.web.server import check_host
from tests.web.running import copy_demo, run_server


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_needs_no_permission(host: str) -> None:
    """Loopback is what the server is for."""
    check_host(host, allow_remote=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "example.org"])
def test_other_machines_are_kept_out(host: str) -> None:
    """Listening elsewhere takes being asked for by name."""
    with pytest.raises(UsageError, match="--allow-remote"):
        check_host(host, allow_remote=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_everywhere_is_no_name(host: str) -> None:
    """Even then one address has to be named, because the Host is compared with it."""
    with pytest.raises(UsageError, match="Specify the address"):
        check_host(host, allow_remote=True)


def test_named_address_is_allowed() -> None:
    """One that was asked for is listened on."""
    check_host("192.168.1.5", allow_remote=True)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_server_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    """A signal ends it at once, with code 0, no word, no state file and no process left."""
    with run_server(tmp_path, copy_demo(tmp_path)) as server:
        state = server.data / "server.json"
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
        assert stat.S_IMODE(server.data.stat().st_mode) == 0o700
        assert json.loads(state.read_bytes())["pid"] == server.process.pid
        children = _list_children(server.process.pid)
        server.process.send_signal(number)
        server.process.wait(timeout=60)
        assert (server.process.returncode, state.exists()) == (0, False)
        assert [each for each in children if _is_there(each)] == []


@pytest.mark.slow
def test_port_in_use_is_reported(tmp_path: Path) -> None:
    """A port in use is an error message, not a traceback, and the other server is unaffected."""
    with run_server(tmp_path, copy_demo(tmp_path)) as server:
        command = ["-m", "recollect", "serve", "--no-open", "--port", str(server.port), "--demo"]
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, encoding="utf-8", check=False
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("recollect: Cannot listen on 127.0.0.1 port ")
        assert server.get("/api/projects").status == 200


def _list_children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    if not path.exists():
        return []
    return [int(each) for each in path.read_text(encoding="ascii").split()]


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_server_on_ipv6_has_brackets(tmp_path: Path) -> None:
    """Its printed address can be opened, and it answers to that name."""
    if not socket.has_ipv6:
        pytest.skip("no IPv6 on this machine")
    with run_server(tmp_path, copy_demo(tmp_path), "--host", "::1") as server:
        connection = http.client.HTTPConnection("::1", server.port, timeout=60)
        connection.request("GET", "/api/projects", headers=server.authority)
        assert connection.getresponse().status == 200
        connection.close()
