"""Asking a language model: requests, the store of their replies, and the client between them.

Knows nothing of judges. A request answered well once is never sent again: `store` keeps it under a key that
`request` derives from everything that is sent.
"""
