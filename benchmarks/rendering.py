"""A whole session drawn through the server, as somebody who reads all of it would have it."""

import html
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.serving import Client, WrongAnswer, find_cpu_seconds
from tests.web.running import RunningServer

_COUNT = 20
_NEXT = re.compile(rb'data-next="(\d+)" data-total="(\d+)"')
_CALL = re.compile(rb'data-source="(/s/[^"]+/calls/[^"]+)"')


@dataclass(frozen=True, slots=True)
class Drawn:
    """What drawing took: time as the client sees it, CPU time of the server alone."""

    seconds: float
    cpu_seconds: float
    size: int
    calls: int


def draw_all(server: RunningServer, session: str, *, with_calls: bool) -> Drawn:
    """Ask for all turns, and for what opens behind each tool call if that is wanted."""
    pid = server.process.pid
    wall, cpu = time.perf_counter(), find_cpu_seconds(pid)
    size = calls = 0
    with Client(server) as client:
        for body in _iter_parts(client, session):
            size += len(body)
            for address in _CALL.findall(body) if with_calls else ():
                size += len(client.get(html.unescape(address.decode())).body)
                calls += 1
    return Drawn(time.perf_counter() - wall, find_cpu_seconds(pid) - cpu, size, calls)


def _iter_parts(client: Client, session: str) -> Iterator[bytes]:
    """Yield the turns of a session, a few at a time."""
    place, total = 0, 1
    while place < total:
        body = client.get(f"/s/{session}/turns?start={place}&count={_COUNT}").body
        if (found := _NEXT.search(body)) is None:
            raise WrongAnswer(f"The turns from {place} on do not say how many there are.")
        place, total = int(found[1]), int(found[2])
        yield body
