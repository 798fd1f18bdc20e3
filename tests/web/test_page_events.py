"""The events of conversations that are sent to pages."""

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

from recollect.documents.events import ConversationsDocument
from recollect.web.conversations.page_messages import iter_running
from recollect.web.conversations.registry import AuditLog, Conversations
from tests.launch.conversing import GUARD_SECONDS, make_options


def test_changes_during_a_send_are_not_missed(tmp_path: Path) -> None:
    """Changes while an event is being sent are in the next one."""
    options = make_options(tmp_path)

    async def run() -> list[list[str]]:
        conversations = Conversations(AuditLog(tmp_path, lambda: datetime.now(UTC)))
        await conversations.start(options)
        while _list_statuses(conversations.document) != ["idle"]:
            await conversations.changed.wait()
        async with asyncio.timeout(GUARD_SECONDS), aclosing(iter_running(conversations)) as sent:
            found = [await anext(sent)]
            # All of it happens before the next event is asked for.
            await conversations.close()
            found.append(await anext(sent))
        return [_list_statuses(each.data) for each in found]

    assert asyncio.run(run()) == [["idle"], ["ended"]]


def _list_statuses(document: object) -> list[str]:
    assert isinstance(document, ConversationsDocument)
    return [each.status for each in document.conversations]
