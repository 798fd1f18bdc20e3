"""The scripts of the sample sessions, and the writer that turns them into transcripts."""
