"""`python -m drift`."""

from chassis.process import run
from drift.app import main

run(main)
