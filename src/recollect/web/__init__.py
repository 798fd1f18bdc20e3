"""The web app: pages and a JSON API over the same core, for one person on one machine.

Knows HTTP; refuses any logic that the command line would need too. Nothing here writes below a
Claude directory, and nothing that a transcript holds is sent unescaped.
"""
