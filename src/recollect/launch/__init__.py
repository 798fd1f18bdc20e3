"""Start what belongs to the user: their own Claude Code, their own browser."""
