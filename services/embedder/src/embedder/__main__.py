"""`python -m embedder`."""

from chassis.process import run
from embedder.app import main

run(main)
