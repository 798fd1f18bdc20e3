"""The commands, a module each: what one takes, which layer it asks, and what it prints."""
