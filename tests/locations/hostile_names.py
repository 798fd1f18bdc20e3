"""Strings that must never become part of a path, although a record may have them as an id."""

_PARENT = [
    "..",
    "../",
    "..\\",
    "../..",
    "..\\..",
    "./..",
    "x/..",
    "x\\..",
    "x/../y",
    "..//",
    "../\0",
]
_TARGETS = ["secret", "sessions/1.aa.key", "etc/passwd", "Windows\\win.ini"]
_SEPARATED = [
    f"{climb}{separator}{target}"
    for climb in ("..", "../..", "..\\..", "x/../..", ".")
    for separator in ("/", "\\")
    for target in _TARGETS
]
_ABSOLUTE = [
    "/",
    "/etc/passwd",
    "//server/share",
    "\\",
    "\\\\server\\share",
    "\\\\?\\C:\\Windows",
    "\\\\.\\PhysicalDrive0",
    "C:",
    "C:\\Windows",
    "C:/Windows",
    "c:relative",
    "file:///etc/passwd",
    "~/x",
]
_STREAMS = ["id:stream", "id::$DATA", "id.jsonl:hidden:$DATA", ":", ":zone"]
_DEVICES = ["CON", "con", "nul", "NUL.txt", "aux.json", "PRN", "COM1", "com9.x", "LPT1", "COM¹"]
_DEVICES += ["CONIN$", "conout$.txt", "nul .txt"]
_CONTROLS = ["\0", "id\0", "id\0.jsonl", "a\nb", "a\rb", "a\tb", "\x1b[2J", "\x7f"]
_STRIPPED = ["", ".", "...", "id.", "id ", " ", ". ", ".. ", "....", "id. ."]
_ENCODINGS = ["\ud83d", "id\udc00\ud800", "..\u002fx", "x" * 250, "中" * 84]

HOSTILE_NAMES = [
    *_PARENT,
    *_SEPARATED,
    *_ABSOLUTE,
    *_STREAMS,
    *_DEVICES,
    *_CONTROLS,
    *_STRIPPED,
    *_ENCODINGS,
]

# No separator in them for any system, so they are names like others, if strange ones.
STRANGE_BUT_PLAIN_NAMES = [
    "%2e%2e%2fx",
    "..%2f",
    "%00",
    "\uff0e\uff0e\uff0fx",
    "..\u2215x",
    "..\u29f5x",
    "~",
    "-rf",
    "*",
    "?",
    "[a]",
    "$(x)",
    "`x`",
    ".hidden",
    "..x",
    "a..b",
    "console",
    "COM10",
    "x" * 249,
    "中" * 83,
    "\udcff",
    "0b6bd7b5-38f4-4c0c-9d3e-3a5f1d0f9a11",
]
