"""The walls around the app, each a small ASGI middleware that knows one rule.

From the outside in: headers on every answer, one catch-all, the exact Host, a cap on what is sent
to us, where a request comes from, and the key. Only behind all of them does routing begin.
"""
