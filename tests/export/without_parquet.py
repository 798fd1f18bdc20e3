"""The program on a machine without the extra that Parquet needs: `python -m` this module."""

import sys

from recollect.cli import main

if __name__ == "__main__":
    sys.modules["pyarrow"] = None  # type: ignore[assignment]  # as import does for what is missing
    main()
