"""The embedder: turns the bodies that facts name into chunks with vectors, and questions into vectors.

It decides nothing and keeps no tables. It is the only writer of CHK, the derived stream that
retrieval builds its index from.
"""
