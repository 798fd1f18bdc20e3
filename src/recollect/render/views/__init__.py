"""Session → what there is to show, before anyone decides how it looks.

One description serves the terminal and the web page, so that a tool is understood in one place.
Nothing here is escaped: every string is as hostile as the transcript that it is from, and whoever
draws it makes it safe for the place where it goes.
"""
