"""The pages: each a function from typed parameters to a template and its frozen context."""
