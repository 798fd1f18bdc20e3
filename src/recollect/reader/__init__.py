"""Read transcripts and streams: bytes become records, nothing is lost, bad data never raises.

Import names from their modules: readers load every record type, which commands that only set a mask
or count tokens do not need.
"""
