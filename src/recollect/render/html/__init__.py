"""Render views as HTML.

Everything returns `Markup`, the type for text that is safe in a page; a plain `str` is still to be
escaped. The output never has a script, a style attribute or a remote resource: what the page's
policy forbids is not written in the first place.
"""
