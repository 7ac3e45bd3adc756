#!/bin/sh
# Make the virtual environment $1 with the first Python from 3.11 to 3.13 that there is; nothing where it is there.
set -eu
venv=$1
if [ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    exit 0
fi
for python in python3.11 python3.12 python3.13 python3; do
    if "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
        echo "Setting up $venv with $("$python" --version)" >&2
        if ! "$python" -m venv "$venv"; then
            rm -rf "$venv"
            echo "$python cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2
            exit 1
        fi
        exit 0
    fi
done
echo "Company Brain needs Python 3.11, 3.12 or 3.13 on the PATH" >&2
exit 1
