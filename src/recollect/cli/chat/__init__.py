"""A conversation with Claude Code in a terminal: questions, completion, and the screen."""
