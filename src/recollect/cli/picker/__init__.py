"""The picker: what `recollect` alone shows on a terminal.

`state` decides, `sources` looks things up, `screen` draws and listens. Only `screen` knows the
library that draws.
"""
