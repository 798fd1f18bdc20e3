"""Render views as HTML.

Everything returns `Markup`, the type for text that is safe in a page; a plain `str` must be
escaped. The output never contains a script, a style attribute or a remote resource, which the
page's policy would block anyway.
"""
