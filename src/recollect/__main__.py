"""Lets `python -m recollect` do what the `recollect` command does; it knows nothing else."""

from recollect.cli import main

if __name__ == "__main__":
    main()
