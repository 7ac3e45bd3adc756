"""Retrieval: what readers find and read. Projections only; it decides nothing and appends nothing.

It follows pages, access, captures and vectors into one index and answers search, find and read from it, each answer
under the one access rule, at or after the fence. It is the only service that knows pgvector.
"""
