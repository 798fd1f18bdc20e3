"""The application layer: everything that front ends share, and the library's public interface.

A workspace combines Claude directories, the index and opened sessions, and answers queries about
them. The command line, the web app and other programs query it and render the result; nothing that
two of them need is decided above this layer.
"""
