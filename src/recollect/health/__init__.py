"""Health checks: what is in the files on disk, what Recollect does not know, what is damaged.

Imports nothing, so that `recollect.health.retention` stays cheap to import.
"""
