"""Parts of `recollect run`."""
