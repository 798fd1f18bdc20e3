"""The stream-json messages that `claude -p --output-format stream-json` prints.

They have their own union and are converted to transcript records, so that the same session model
and renderers work for files and for running sessions.
"""
