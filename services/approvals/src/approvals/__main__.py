"""`python -m approvals`."""

from approvals.app import main
from chassis.process import run

run(main)
