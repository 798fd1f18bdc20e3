"""The configuration file: which settings there are, what they hold, and what they are for."""
