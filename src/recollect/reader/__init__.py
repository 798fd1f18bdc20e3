"""Read transcripts and streams: bytes become records, nothing is lost, bad data never raises.

Names are imported from their modules: readers load every record type, which a command that only
sets a mask or counts tokens does not need.
"""
