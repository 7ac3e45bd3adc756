"""Run the service: `python -m gateway`."""

from chassis import process
from gateway.app import main

if __name__ == "__main__":
    process.run(main)
