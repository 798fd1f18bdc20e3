"""Programs that measure the reader; for maintainers, not shipped."""
