"""The classes of all JSON output: frozen, versioned data without logic.

The command line, the web API and the event stream encode the same classes, so the same data has the
same shape everywhere. Layers above build them; nothing here knows where values come from.
"""
