"""Run a program that can reach a scripted API and nothing else.

`python -m tests.client.isolated_command CMD` has to be started in a network namespace of its own,
where it brings loopback up and checks that nothing else can be reached. Signals are passed on to
the program, and its exit code is returned.
"""

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from threading import Thread

from tests.client.fake_api import Server

NOT_ALONE = 99
_SET_FLAGS = 0x8914
_UP = 0x1


def raise_loopback() -> None:
    """Bring loopback up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sh22x", b"lo", _UP))


def list_interfaces() -> list[str]:
    """The ways out of here."""
    lines = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()[2:]
    return [line.partition(":")[0].strip() for line in lines]


def main() -> int:
    """Play for the program that the arguments name."""
    if list_interfaces() != ["lo"]:
        return NOT_ALONE
    raise_loopback()
    server = Server()
    Thread(target=server.serve_forever, daemon=True).start()
    environment = {**os.environ, "ANTHROPIC_BASE_URL": server.url}
    program = subprocess.Popen(sys.argv[1:], env=environment)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: program.send_signal(number))
    return program.wait()


if __name__ == "__main__":
    sys.exit(main())
