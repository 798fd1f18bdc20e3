"""Export sessions to files: pages, Markdown, text, JSON, raw lines and tables.

Takes opened sessions and returns bytes; the caller finds sessions and selects turns. Everything
passes through `masking`, unless the caller turns redaction off.
"""

from recollect.export.export_options import ExportOptions, Format, Images, Level, Table, Theme

__all__ = ["ExportOptions", "Format", "Images", "Level", "Table", "Theme"]
