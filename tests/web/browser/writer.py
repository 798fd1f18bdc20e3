"""Continue a session turn by turn, and report when each record was written.

Run as a separate process: `python -m tests.web.browser.writer TRANSCRIPT FIRST COUNT PAUSE`.
"""

import sys
import time
from pathlib import Path

from tests.web.browser.writing import append_records, make_turn


def main() -> None:
    """Write the turns."""
    transcript, first, count, pause = sys.argv[1:]
    path = Path(transcript)
    for turn in range(int(first), int(first) + int(count)):
        for record in make_turn(path.stem, turn):
            append_records(path, [record])
            sys.stdout.write(f"{record['uuid']} {time.time()}\n")
            time.sleep(float(pause))


if __name__ == "__main__":
    main()
