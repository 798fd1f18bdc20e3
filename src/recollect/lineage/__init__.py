"""Relations between sessions: forks, continuations and subagents."""
