"""Sessions as files for others: pages, Markdown, text, JSON, raw lines and tables.

Takes opened sessions and gives bytes; where sessions come from, and which turns of them are wanted,
is not known here. Everything passes through `masking`, unless the caller asks for no redaction.
"""

from recollect.export.export_options import ExportOptions, Format, Images, Level, Table, Theme

__all__ = ["ExportOptions", "Format", "Images", "Level", "Table", "Theme"]
