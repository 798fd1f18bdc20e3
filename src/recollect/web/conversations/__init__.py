"""Conversations with the user's own Claude Code that this server runs, and who may control them."""
