"""Programs that feed broken input to the code; for maintainers, not shipped."""
