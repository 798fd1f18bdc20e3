"""Views → HTML that a page may hold.

Everything returns `Markup`, the type that says "safe in a page"; a plain `str` is always still to
be escaped. No script, no style attribute and no remote resource ever comes out of here: what a
page may not hold by its policy is not written in the first place.
"""
