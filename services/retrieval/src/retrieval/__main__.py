"""`python -m retrieval` runs the service; `python -m retrieval rebuild` builds its index anew."""

import sys

import uvloop

from chassis import log
from chassis.process import run
from retrieval import app, rebuild

if sys.argv[1:] == ["rebuild"]:
    log.configure("retrieval-rebuild")
    sys.exit(uvloop.run(rebuild.command()))
run(app.main)
