"""Raw records."""

from pathlib import Path

from recollect.documents.turn_documents import Json
from recollect.reader.transcript_reader import read_span, read_transcript
from recollect.render.views.notices import show_raw
from recollect.session.session import Session
from tests.session.chains import user


def test_record_of_a_file(tmp_path: Path) -> None:
    """The bytes of a record's span are shown indented, with unknown fields."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"user","uuid":"a","brand":{"new":1e400}}\r\n{"type":"user"}\n')
    session = Session(read_transcript(path))
    shown = '{\n  "type": "user",\n  "uuid": "a",\n  "brand": {\n    "new": 1e400\n  }\n}'
    record = session.find_record("a")
    assert record
    assert record.span
    assert show_raw(read_span(record.span)) == Json(shown)


def test_records_that_no_file_holds() -> None:
    """A record from a stream and one that does not exist have no bytes."""
    session = Session([user("a")])
    found = [session.find_record(uuid) for uuid in ("a", "z")]
    assert [record and record.span for record in found] == [None, None]


def test_bytes_that_are_no_json() -> None:
    """Damaged bytes are shown as far as they are valid text."""
    assert show_raw(b'{"a":\xff\n') == Json('{"a":\ufffd')
