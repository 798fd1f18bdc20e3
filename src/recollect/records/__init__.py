"""Data types of transcript records and stream messages, and their decoding from JSON."""
