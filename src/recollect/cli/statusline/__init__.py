"""Parts of `recollect statusline`, which goes without click and most of the program."""
