"""Render a whole session through the server, as if a user read all of it."""

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
class RenderCost:
    """Wall time as the client sees it, and CPU time of the server alone."""

    seconds: float
    cpu_seconds: float
    size: int
    calls: int


def render_all(server: RunningServer, session: str, *, with_calls: bool) -> RenderCost:
    """Request all turns, and with `with_calls` the details of each tool call."""
    pid = server.process.pid
    wall, cpu = time.perf_counter(), find_cpu_seconds(pid)
    size = calls = 0
    with Client(server) as client:
        for body in _iter_parts(client, session):
            size += len(body)
            for address in _CALL.findall(body) if with_calls else ():
                size += len(client.get(html.unescape(address.decode())).body)
                calls += 1
    return RenderCost(time.perf_counter() - wall, find_cpu_seconds(pid) - cpu, size, calls)


def _iter_parts(client: Client, session: str) -> Iterator[bytes]:
    """Yield the turns of a session in batches."""
    position, total = 0, 1
    while position < total:
        body = client.get(f"/s/{session}/turns?start={position}&count={_COUNT}").body
        if (found := _NEXT.search(body)) is None:
            raise WrongAnswer(f"The turns from {position} on do not say how many there are.")
        position, total = int(found[1]), int(found[2])
        yield body
