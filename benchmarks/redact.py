"""Recall, false positives and speed of redaction: `python -m benchmarks.redact`.

Recall is measured on made-up secrets of more than two hundred families in some twenty contexts.
Held-out families were collected by someone who had not seen the rules, and are only used for
measuring. False positives are counted in generated texts without secrets, in the sources of
installed packages, which contain some made-up passwords, and in public transcripts from which the
owners removed secrets, if available beside the project. With `--detect-secrets PYTHON`, an
interpreter that has the package detect-secrets, that program is run on the same set too. Speed is
CPU time on one core.
"""

import argparse
import json
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from recollect.redact.findings import Finding
from recollect.redact.policy import find_secrets
from recollect.redact.redactor import Redactor
from tests.redact.harmless_texts import KINDS, make_harmless
from tests.redact.held_out_secrets import HELD_OUT_FAMILIES, KNOWN_FAMILIES
from tests.redact.labelled_set import Example, Recall, is_readable, iter_examples, measure_recall
from tests.redact.made_up_secrets import WITH_RULE, Family
from tests.redact.metamorphic import TRANSFORMS
from tests.redact.tuning_secrets import TUNED_FAMILIES

_MEGABYTE = 1_000_000
_MAX_SOURCES = 20 * _MEGABYTE
_CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
_FAMILIES = {
    "families with a rule": (*WITH_RULE, *KNOWN_FAMILIES),
    "families that the general rules were tuned on": TUNED_FAMILIES,
    "held-out families": HELD_OUT_FAMILIES,
}
_PLAIN_CONTEXTS = frozenset({"env", "yaml", "header", "sentence"})

_DETECT_SECRETS = """
import json, os, sys, tempfile
from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings
with default_settings(), tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "output.txt")
    for line in sys.stdin:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(json.loads(line))
        print(json.dumps([each.secret_value for each in scan_file(path) if each.secret_value]))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print everything."""
    options = _parse(arguments)
    missed = [
        missed
        for label, families in _FAMILIES.items()
        for missed in _measure_recall(label, families, options.repeats).missed.items()
    ]
    print()
    _print_contexts(missed)
    _measure_transforms(options.repeats)
    size = int(options.megabytes * _MEGABYTE)
    transcripts = list(_iter_texts(options.corpus))
    _measure_false_findings(size, transcripts)
    _measure_speed(size, transcripts)
    _compare_detect_secrets(options.detect_secrets)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.redact", description=__doc__)
    parser.add_argument("--repeats", type=int, default=25, help="examples per family and context")
    parser.add_argument("--megabytes", type=float, default=4, help="size of each harmless text")
    parser.add_argument("--corpus", type=Path, default=_CORPUS, help="transcripts without secrets")
    parser.add_argument("--detect-secrets", metavar="PYTHON", help="interpreter with that package")
    return parser.parse_args(arguments)


def _measure_recall(label: str, families: Iterable[Family], repeats: int) -> Recall:
    recall = measure_recall(iter_examples(families, seed=101, repeats=repeats))
    print(
        f"recall, {label}: all rules {recall.all_rules:.4f}, definite {recall.definite_rules:.4f}"
        f" ({recall.planted:,} secrets)"
    )
    return recall


def _print_contexts(missed: Iterable[tuple[str, int]]) -> None:
    by_context = sorted((name.rsplit(" in ", 1)[1], count) for name, count in missed)
    for context, group in groupby(by_context, key=lambda each: each[0]):
        print(f"  missed in {context}: {sum(count for _, count in group)}")


def _measure_transforms(repeats: int) -> None:
    """Print how many fewer secrets are found if the same texts are encoded differently."""
    plain = [
        example
        for example in iter_examples(WITH_RULE, seed=102, repeats=max(1, repeats // 3))
        if example.context in _PLAIN_CONTEXTS
    ]
    before = measure_recall(plain).all_rules
    drops = {
        name: before - measure_recall(_transform(plain, transform)).all_rules
        for name, transform in TRANSFORMS.items()
    }
    print(f"\nrecall of {len(plain):,} plain texts: {before:.4f}; drop when written differently:")
    for name, drop in drops.items():
        print(f"  {name}: {drop:.4f}")


def _transform(examples: Iterable[Example], transform: Callable[[str], str]) -> Iterator[Example]:
    for example in examples:
        yield example._replace(text=transform(example.text))


def _measure_false_findings(size: int, transcripts: Sequence[str]) -> None:
    print("\nfalse findings per MB (all rules, definite):")
    for kind in KINDS:
        text = make_harmless(103, kind, size)
        _print_rate(kind, len(text), find_secrets(text))
    sources = list(_iter_sources(_MAX_SOURCES))
    found = [each for text in sources for each in find_secrets(text)]
    _print_rate("sources of installed packages", sum(map(len, sources)), found)
    if not transcripts:
        print("  public transcripts: skipped, there are none beside the project")
        return
    found = [each for text in transcripts for each in find_secrets(text)]
    _print_rate("public transcripts", sum(map(len, transcripts)), found)


def _iter_sources(most: int) -> Iterator[str]:
    """Yield the Python files of installed packages until they have `most` characters."""
    size = 0
    for path in sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        size += len(text)
        if size > most:
            return
        yield text


def _print_rate(label: str, size: int, found: Sequence[Finding]) -> None:
    definite = sum(each.confidence == "definite" for each in found)
    megabytes = size / _MEGABYTE
    print(
        f"  {label}: {len(found) / megabytes:.2f}, {definite / megabytes:.2f}"
        f" ({len(found)} in {megabytes:.1f} MB)"
    )


def _iter_texts(corpus: Path) -> Iterator[str]:
    """Yield all strings of each record below a directory."""
    for path in sorted(corpus.rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                yield "\n".join(_iter_strings(json.loads(line)))
            except ValueError:
                continue


def _iter_strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _iter_strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _iter_strings(each)


def _measure_speed(size: int, transcripts: Sequence[str]) -> None:
    """Print megabytes per second of CPU time: scanning, and masking a whole output."""
    texts = transcripts or [make_harmless(104, kind, size) for kind in KINDS]
    label = "public transcripts" if transcripts else "generated texts"
    megabytes = sum(map(len, texts)) / _MEGABYTE
    find_secrets("load the rules first")
    scan = min(_cpu_seconds(lambda: [find_secrets(text) for text in texts]) for _ in range(3))
    redactor = Redactor()
    mask = _cpu_seconds(lambda: [redactor.redact(text) for text in texts])
    print(f"\nspeed on {megabytes:.1f} MB of {label}:")
    print(f"  find_secrets: {megabytes / scan:.1f} MB/s")
    print(f"  Redactor.redact: {megabytes / mask:.1f} MB/s")


def _cpu_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _compare_detect_secrets(python: str | None) -> None:
    """Print what detect-secrets finds on one example per family and context."""
    if python is None:
        print("\ndetect-secrets: skipped, give its interpreter with --detect-secrets")
        return
    examples = [
        example
        for families in _FAMILIES.values()
        for example in iter_examples(families, seed=105, repeats=1)
    ]
    harmless = [make_harmless(106, kind, 20_000) for kind in KINDS]
    start = time.perf_counter()
    lines = [json.dumps(text) for text in (*(each.text for each in examples), *harmless)]
    answer = subprocess.run(
        [python, "-c", _DETECT_SECRETS],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        print(f"\ndetect-secrets: skipped, {answer.stderr.strip().splitlines()[-1]}")
        return
    seconds = time.perf_counter() - start
    values: list[list[str]] = [json.loads(line) for line in answer.stdout.splitlines()]
    found = sum(
        not is_readable(_remove(example.text, each), example.secrets)
        for example, each in zip(examples, values, strict=False)
    )
    ours = measure_recall(examples)
    false = sum(map(len, values[len(examples) :]))
    false_ours = sum(len(find_secrets(text)) for text in harmless)
    size = sum(map(len, harmless)) / _MEGABYTE
    total = sum(map(len, lines)) / _MEGABYTE
    print(f"\nthe same {len(examples):,} secrets and {size:.2f} MB of harmless texts:")
    print(f"  recollect: recall {ours.all_rules:.3f}, {false_ours / size:.0f} false per MB")
    print(f"  detect-secrets: recall {found / len(examples):.3f}, {false / size:.0f} false per MB")
    print(f"  detect-secrets took {seconds:.0f} s, {total / seconds:.2f} MB/s")


def _remove(text: str, values: Iterable[str]) -> str:
    for value in values:
        text = text.replace(value, "■")
    return text


if __name__ == "__main__":
    main()
