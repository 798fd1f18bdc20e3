"""How sessions descend from each other: forks, continuations, subagents."""
