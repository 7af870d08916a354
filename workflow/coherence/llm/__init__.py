"""Asking a language model: requests, the store of their replies, and the client between them.

Knows nothing of judges. A request answered well once is never sent again: `store` keeps it under a key that
`request` derives from everything that is sent.

    client     answers requests from the store or through the API, many at once
    sending    one call through the SDK; pacing, breaker and warming decide when it is made and whether
    claims     keep jobs that run at once from paying twice for what they ask alike
    account    enters each call in the ledger and keeps within the budget
    models     what is known of models, prices among it; prices and counting say what requests will cost
"""
