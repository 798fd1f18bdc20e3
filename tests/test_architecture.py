"""The rules of the code base that a tool can check; docs/dev/architecture.md gives the reasons."""

import ast
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import recollect
from recollect.cli.json_output import DOCUMENTS
from recollect.web.endpoints import ENDPOINTS
from recollect.web.event_stream import EVENTS
from tests.process import RunRecollect, run_python

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "recollect"
MODULES = sorted(PACKAGE.rglob("*.py"))
EXPORTED: list[str] = getattr(recollect, "__all__", [])

MAX_LINES = 450
MAX_TEMPLATE_COLUMNS = 160
MAX_PUBLIC_NAMES = 36
HEAVY_IMPORTS = {"apsw", "asyncio", "jinja2", "rich", "sqlite3", "starlette"}
DATABASES = {"apsw", "sqlite3"}

# The outermost frame, the error page and the watcher's loop: one catch-all each.
MAY_CATCH_ALL = ("cli", "web", "live")


def _layer(path: Path) -> str:
    """Return the package below `recollect` that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def _find_nodes(matches: Callable[[ast.AST], bool], paths: Iterable[Path]) -> list[str]:
    """Return the locations of matching nodes in these files, as `file:line`."""
    return [
        f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
        for path in paths
        for node in ast.walk(_tree(path))
        if matches(node)
    ]


def test_imports_keep_the_layer_contracts() -> None:
    """All contracts in pyproject.toml are checked and kept."""
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = run_python(
        "-c", lint, "--no-logo", "--no-cache", "--config", str(ROOT / "pyproject.toml")
    )
    assert result.stdout.splitlines()[-1:] == ["Contracts: 4 kept, 0 broken."], result


PUBLIC_MODULES = {
    "store": {
        "data_directory",
        "quick_totals",
        "secret_rows",
        "text_conditions",
        "text_matches",
        "text_queries",
        "usage_queries",
    },
    "sync": set(),
}
"""Modules that other packages import directly, beside the names of the package itself."""


@pytest.mark.parametrize("package", PUBLIC_MODULES)
def test_all_modules_but_the_public_ones_are_protected(package: str) -> None:
    """New modules are private to their package, and every public name is exported."""
    modules = {path.stem for path in (PACKAGE / package).glob("*.py")} - {"__init__"}
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    protected = set(re.findall(rf'"recollect\.{package}\.(\w+)"', contract))
    assert sorted(modules - protected) == sorted(PUBLIC_MODULES[package])
    interface = import_module(f"recollect.{package}")
    assert [name for name in interface.__all__ if not hasattr(interface, name)] == []


# Files that are not below a Claude directory, and questions that only a disk can answer.
MAY_ASK_THE_DISK = {
    "archive/__init__.py": "the archive",
    "archive/archive.py": "the archive",
    "archive/archive_source.py": "the seam itself",
    "archive/archive_tasks.py": "the size of an export",
    "archive/archived_files.py": "where files are restored to",
    "archive/encryption.py": "the key of the archive",
    "archive/object_store.py": "the archive",
    "archive/deleted_sessions.py": "transcripts of our own",
    "archive/partial_transcripts.py": "transcripts of our own",
    "atomic_files.py": "where files are written",
    "cli/commands/follow_commands.py": "a stream that the user saved",
    "cli/commands/setup_commands.py": "the settings file",
    "workspace/config_file.py": "the settings file",
    "cli/exit_codes.py": "the null device",
    "cli/start.py": "whether there is an index",
    "cli/statusline.py": "whether a Claude directory is worth a background sync",
    "cli/statusline_figures.py": "whether there is an index",
    "cli/statusline_setup.py": "when a background sync was last started",
    "export/html_pages.py": "what the package brings",
    "export/writing.py": "where exports are written",
    "health/root_checks.py": "the index",
    "launch/client_commands.py": "the working directory, and the file to save a stream to",
    "launch/client_guard.py": "/proc, which processes a client started",
    "launch/conversation_options.py": "the working directory to start in",
    "launch/session_forks.py": "the copy of a session that it writes",
    "library/processes.py": "/proc, when a process started",
    "live/watching.py": "how many directories the system can watch",
    "pricing/price_tables.py": "prices",
    "sync/index_access.py": "prices",
    "sync/text_plan.py": "the size of the full-text index",
    "versions/file_paths.py": "the file that was asked about, and its repository",
    "web/conversations/page_messages.py": "the directory to start a conversation in",
    "web/conversations/registry.py": "the log of what pages started",
    "web/templating.py": "what the package brings",
    "workspace/session_marks.py": "stars and notes",
    "workspace/resources.py": "whether there is an index",
}
ASKING_PACKAGES = {"sources": "the seam itself", "store": "the index", "demo": "the sample data"}
ASKING_METHODS = {
    *("exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "iterdir", "glob", "rglob"),
    *("read_bytes", "read_text", "scandir", "listdir", "isdir", "isfile", "getsize", "getmtime"),
}


def test_only_sources_open_and_look_at_transcripts() -> None:
    """Only `recollect.sources` opens or stats files of a Claude directory."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if _layer(path) not in ASKING_PACKAGES and _find_nodes(_asks_the_disk, [path])
    }
    assert sorted(found - {*MAY_ASK_THE_DISK}) == []
    assert sorted({*MAY_ASK_THE_DISK} - found) == [], "no longer needed"


def _asks_the_disk(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "open"
    if not isinstance(node.func, ast.Attribute):
        return False
    # What a listing says about its entries comes from the source, and never follows links.
    is_entry = any(each.arg == "follow_symlinks" for each in node.keywords)
    if node.func.attr == "open":
        return not ast.unparse(node).startswith(
            ("os.open(os.devnull", "webbrowser.", "workspace.open(")
        )
    return node.func.attr in ASKING_METHODS and not is_entry


def test_exported_names_are_the_declared_ones() -> None:
    """Every public name of the package is in `__all__`, once."""
    public = {name for name in dir(recollect) if _is_public(name)}
    assert public - set(EXPORTED) == set()
    assert len(EXPORTED) == len(set(EXPORTED)) < MAX_PUBLIC_NAMES


def _is_public(name: str) -> bool:
    """Return whether a name is ours and public; submodules appear once they are imported."""
    value = getattr(recollect, name)
    ours = str(getattr(value, "__module__", "")).startswith("recollect")
    return ours and not name.startswith("_") and not isinstance(value, ModuleType)


def test_exported_names_say_what_they_are() -> None:
    """Every exported class and function has a docstring."""
    values = {name: getattr(recollect, name) for name in EXPORTED if name[0] != "_"}
    assert [name for name, value in values.items() if not value.__doc__] == []


def test_exported_names_are_documented() -> None:
    """Every exported name is in the library's documentation."""
    page = ROOT / "docs" / "library.md"
    if not page.exists():
        pytest.skip("docs/library.md is not written yet")
    words = set(re.findall(r"\w+", page.read_text(encoding="utf-8")))
    assert sorted(set(EXPORTED) - words) == []


def test_modules_say_what_they_know() -> None:
    """Every module opens with a docstring."""
    assert [str(path) for path in MODULES if not ast.get_docstring(_tree(path))] == []


def test_modules_stay_readable() -> None:
    """A module becomes a package before it gets too long to read."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {str(path): count for path, count in lengths.items() if count > MAX_LINES} == {}


def test_templates_stay_readable() -> None:
    """A line of a template fits on a screen; markup that pages share is a macro."""
    lines = [
        (path.name, number, len(line))
        for path in (PACKAGE / "web" / "templates").glob("*.html")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    ]
    assert [line for line in lines if line[2] > MAX_TEMPLATE_COLUMNS] == []


def test_nothing_below_the_command_line_prints() -> None:
    """Only the command line writes to the terminal."""
    assert _find_nodes(_is_printing, (path for path in MODULES if _layer(path) != "cli")) == []


def _is_printing(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "print"
    if isinstance(node, ast.ImportFrom) and node.module == "sys":
        return any(alias.name in {"stdout", "stderr"} for alias in node.names)
    return isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.stdout", "sys.stderr"}


def test_no_handler_swallows_an_error() -> None:
    """No exception handler is empty."""
    assert _find_nodes(_is_silent_handler, MODULES) == []


def _is_silent_handler(node: ast.AST) -> bool:
    return isinstance(node, ast.ExceptHandler) and all(map(_does_nothing, node.body))


def _does_nothing(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass) or is_text


def test_broad_handlers_are_only_where_they_are_needed() -> None:
    """A catch-all occurs at most once in each layer that must survive any bug, and nowhere else."""
    owners = {name: [path for path in MODULES if _layer(path) == name] for name in MAY_CATCH_ALL}
    others = [path for path in MODULES if _layer(path) not in MAY_CATCH_ALL]
    assert _find_nodes(_is_broad, others) == []
    assert {
        name for name, paths in owners.items() if len(_find_nodes(_is_broad, paths)) > 1
    } == set()


def _is_broad(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    if node.type is None:
        return True
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(ast.unparse(kind) in {"Exception", "BaseException"} for kind in caught)


def test_only_the_store_uses_a_database() -> None:
    """No other package imports a database."""
    assert (
        _find_nodes(_is_database_import, (path for path in MODULES if _layer(path) != "store"))
        == []
    )


def _is_database_import(node: ast.AST) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    return any(name.split(".")[0] in DATABASES for name in names)


def test_importing_the_package_is_cheap() -> None:
    """`import recollect` loads no framework, no database and no command line."""
    loaded = _loaded_packages(run_python("-X", "importtime", "-c", "import recollect").stderr)
    assert loaded & {*HEAVY_IMPORTS, "click"} == set()


def test_starting_the_program_is_cheap() -> None:
    """`recollect --version` loads nothing that it does not need."""
    result = run_python("-X", "importtime", "-m", "recollect", "--version")
    assert result.code == 0
    assert _loaded_packages(result.stderr) & HEAVY_IMPORTS == set()


def _loaded_packages(import_times: str) -> set[str]:
    names = re.findall(r"^import time:.*\| +(\S+)$", import_times, flags=re.MULTILINE)
    assert "recollect" in names
    return {name.split(".")[0] for name in names}


def test_version_is_the_package_version(run_recollect: RunRecollect) -> None:
    """`recollect --version` names the version of the package that was imported."""
    result = run_recollect("--version")
    assert (result.code, result.stdout.split()[-1]) == (0, recollect.__version__)


def test_no_file_names_a_registry_or_a_place_on_one_machine() -> None:
    """A clone works anywhere: no file names a package index or an absolute path of its author."""
    forbidden = re.compile("|".join(_forbidden_patterns()))
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _project_files()
        for number, line in enumerate(path.read_bytes().splitlines(), start=1)
        if forbidden.search(line.decode("utf-8", errors="replace"))
    ]
    assert found == []


def _forbidden_patterns() -> list[str]:
    """Return the patterns, joined from parts because this file is searched too."""
    hosts = [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com")]
    places = ["work", "root"]
    return [
        *(r"\.".join(host) for host in hosts),
        *(rf"(?<![\w.~*-])/{place}/" for place in places),
        re.escape(str(ROOT)) + r"\b",
    ]


def _project_files() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / name.decode() for name in listed.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


def test_output_shapes_are_documents() -> None:
    """Everything that a command prints or the API sends as JSON is a class of `documents`."""
    printed = [path.partition(":")[0] for path in DOCUMENTS.values()]
    sent = [each.returns.__module__ for each in ENDPOINTS if each.returns]
    streamed = [kind.data.__module__ for kind in EVENTS.values()]
    elsewhere = {
        name for name in (*printed, *sent, *streamed) if not name.startswith("recollect.documents.")
    }
    assert elsewhere == set()


def test_only_documents_name_a_schema() -> None:
    """No other module defines a class with a `schema` field."""
    others = (path for path in MODULES if _layer(path) != "documents")
    assert _find_nodes(_is_versioned_class, others) == []


def _is_versioned_class(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == "schema"
        for each in node.body
    )
