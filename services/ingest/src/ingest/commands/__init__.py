"""What ingest is asked to do: a module for each step of an import, and one for a text of the inbox."""
