"""The stories that the demo data tells, and the pen that they are written with."""
