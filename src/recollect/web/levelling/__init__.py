"""Keeping the index level while the server answers: in a process of its own.

Reading transcripts is work for the processor, and threads of one process would take turns with the
requests. The other process walks, reads and writes; what changed comes back through a pipe.
"""
