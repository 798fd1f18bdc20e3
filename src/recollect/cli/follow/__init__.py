"""Parts of `recollect follow`, which other commands that show events use too."""
