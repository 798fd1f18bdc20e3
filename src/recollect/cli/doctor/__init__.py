"""Parts of `recollect doctor`."""
