"""Parts of `recollect show`."""
