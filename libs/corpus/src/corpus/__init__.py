"""The page as text: format, paths, chunks, statements, references, language and differences.

Everything here is a pure function of its arguments: nothing reads a file, a clock or the network.
"""
