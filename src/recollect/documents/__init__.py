"""Everything that leaves the program as JSON: pure, frozen, versioned data, and no logic.

The command line, the web API and the event stream all encode these classes, so the same thing looks
the same everywhere. Layers above build them; nothing here knows where the values come from.
"""
