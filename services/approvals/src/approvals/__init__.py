"""Proposals, builds and pages: what is suggested, who may decide on it, and what becomes live.

It alone writes the histories of proposals, builds and pages. Its fold tables hold the state that decisions stand on;
its web pages show a reviewer exactly the stored bytes. Its process also runs the archive.
"""
