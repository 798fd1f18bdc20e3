"""A turn and a tool call as renderers get them, to be modified by tests."""

from recollect.documents.kinds import InputKind, ToolStatus
from recollect.documents.turn_documents import Code, Output, ToolStep, TurnView
from recollect.records.token_usage import Tokens

TURN = TurnView(
    number=1,
    uuid="u1",
    kind=InputKind.TYPED,
    is_by_person=True,
    is_on_main_path=True,
    segment=0,
    words="Fix it",
    command=None,
    contexts=(),
    media=(),
    steps=(),
    tokens=Tokens(),
    model=None,
    start=None,
    end=None,
    active_ms=None,
    permission_mode=None,
)
CALL = ToolStep(
    uuid="a1",
    message_id="m1",
    call_id="c1",
    tool="Bash",
    mcp_server=None,
    title="make test",
    summary="2 lines",
    status=ToolStatus.SUCCESS,
    duration_ms=1200,
    input=(Code("make test", language="bash"),),
    output=(Output("one\ntwo"),),
)
