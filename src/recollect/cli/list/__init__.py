"""Parts of `recollect list`."""
