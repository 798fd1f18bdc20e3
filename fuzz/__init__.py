"""Programs that feed broken input to the reader; for maintainers, not shipped."""
