"""Data → what a person reads. Whatever comes out of a transcript is made safe here first."""
