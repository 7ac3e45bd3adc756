"""The fold: what is true now of proposals, builds and pages, as rows. Decisions load it; lists are read from it.

It hears every fact of proposals, builds and pages, and the gates. Its rows are written by its projector, and at once
by the decision that said the facts; each row is guarded by the position of the last fact that it holds.
"""
