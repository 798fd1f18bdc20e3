"""Find API keys, tokens, passwords and private keys in text, and mask them.

Knows only text: no files, no sessions, no destination. It errs on the side of masking too much in
what leaves the machine, and each finding has a confidence. Best effort: a secret that looks like a
word is not found.

Import names from their modules: loading the rules takes longer than printing a list.
"""
