"""The review page: people decide the answers that the machine is not sure of, one key each.

A store (SQLite, beside the answers) holds what the model said and an append-only log of what people
decided; a server on loopback shows one answer at a time. It knows ``coding``; nothing knows it but
the command line.
"""
