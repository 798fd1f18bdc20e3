"""The application layer: everything that surfaces share, and the public face of the library.

A workspace joins Claude directories, the index and opened sessions, and answers questions about
them. The command line, the web app and other programs ask it and draw the answer; nothing that two
of them need is decided above this layer.
"""
