"""The interactive picker that `recollect` without a command shows in a terminal.

`picker_state` is pure: data, state changes and their rendering. `picker_screen` is the only module
that knows prompt_toolkit.
"""
