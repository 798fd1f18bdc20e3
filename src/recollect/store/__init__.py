"""The index: a file of our own, and the only place with SQL."""
