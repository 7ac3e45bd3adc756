"""`python -m ingest`."""

from chassis.process import run
from ingest.app import main

run(main)
