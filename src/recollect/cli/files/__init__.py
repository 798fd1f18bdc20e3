"""Parts of `recollect files`."""
