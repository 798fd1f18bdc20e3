"""Start programs of the user: their own Claude Code and their own browser."""
