"""The commands, one module each: its arguments, which layer it calls, and what it prints."""
