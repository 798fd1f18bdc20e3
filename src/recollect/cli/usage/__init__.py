"""Parts of `recollect usage`."""
