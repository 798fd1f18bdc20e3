"""HTTP as uvicorn speaks it, with our headers on the one answer that never reaches the app.

A request that is no HTTP, that has no Host or two of them, ends in the parser; its answer is as
bare and as guarded as any other.
"""

import sys

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.web.answers import JSON, ErrorDetail, ErrorDocument, encode_json
from recollect.web.security.headers import CACHE_CONTROL, NO_STORE, SECURITY_HEADERS


class StrictProtocol(H11Protocol):
    """Answers what cannot be read as a request."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """Say what is wrong, and close the connection."""
        # Called while the parser's error is being handled; only that tells what was wrong.
        is_host = "Host:" in str(sys.exception())
        status, code, message = (
            (421, "wrong_host", "A request names one Host.")
            if is_host
            else (400, "bad_request", "This is no request in HTTP.")
        )
        body = encode_json(ErrorDocument(error=ErrorDetail(code=code, message=message)))
        headers = {
            **SECURITY_HEADERS,
            CACHE_CONTROL: NO_STORE,
            "content-type": JSON,
            "content-length": str(len(body)),
            "connection": "close",
        }
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        head = h11.Response(status_code=status, headers=pairs, reason=b"Refused")
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            sent = self.conn.send(event)
            if sent:
                self.transport.write(sent)
        self.transport.close()
