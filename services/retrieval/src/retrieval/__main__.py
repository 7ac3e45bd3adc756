"""`python -m retrieval`."""

from chassis.process import run
from retrieval.app import main

run(main)
