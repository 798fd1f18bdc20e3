"""Sessions as files for others: pages, Markdown, text, JSON, raw lines and tables.

Takes opened sessions and returns bytes; finding sessions and selecting turns is up to the caller.
Everything passes through `masking`, unless the caller asks for no redaction.
"""

from recollect.export.export_options import ExportOptions, Format, Images, Level, Table, Theme

__all__ = ["ExportOptions", "Format", "Images", "Level", "Table", "Theme"]
