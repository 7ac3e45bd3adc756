"""Make the members of this repository importable in the virtual environment that runs this, and put `brain` into it.

Each source folder given becomes a line of one `.pth` file: no build, no copies, edits count at once.
"""

import sys
import sysconfig
from pathlib import Path

SCRIPT = """\
#!{python}
from brain.main import main

main()
"""


def main() -> None:
    """Write the `.pth` file and the console script."""
    folders = [Path(argument).resolve() for argument in sys.argv[1:]]
    site = Path(sysconfig.get_path("purelib"))
    (site / "brain-members.pth").write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
    script = Path(sysconfig.get_path("scripts")) / "brain"
    script.write_text(SCRIPT.format(python=sys.executable), encoding="utf-8")
    script.chmod(0o755)


if __name__ == "__main__":
    main()
