"""Parts of `recollect index`."""
