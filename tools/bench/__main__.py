"""`make bench`: start a brain, measure, print a table, write docs/benchmarks.md."""

import asyncio
import sys
import tempfile
from pathlib import Path

from bench import deciding, dispatching, importing, searching, table, world
from shared_data import archive

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = 250
DECISIONS = 400
AT_REST = 1536
START = 30
NOTES = """
Import: the time from `brain import` until the last chunk's vector is in CHK, beside the same model in a process of its
own on the same chunks with nothing else running.

Decisions: proposals of small pages whose vectors are ready are approved over NATS; each is acknowledged when it is
archived. Bare: atomic batches of the same number and size of messages on a stream that nobody follows.

Search: medians over eight questions; the time that the embedder takes for the query, measured right before each call,
is taken off. The statement runs as the serving role with the same vector and caller.

Rebuild: a second index from the first fact on, vectors from CHK, compared by checksum and switched.

Dispatcher: the same bytes to two applications in this process, answered with the same page of 3,300 characters; CPU
time of the process, the best of five rounds. The SDK's server keeps no sessions and answers in JSON.

Memory: proportional set size of every process of the brain, at the end of all of the above.
"""


async def measure(folder: Path) -> list[table.Line]:
    """Every line, in an order in which none disturbs the next."""
    lines = await dispatching.dispatching()
    with world.brain(folder) as (house, took):
        lines.append(
            table.Line(
                "make up after install: a new brain with the sample company",
                f"{took:.1f} s",
                "the bound alone",
                took,
                START,
                at_least=False,
                unit=" s",
            )
        )
        pages, count = importing.sample(archive("handbooks") / "sourcegraph" / "pages", folder, PAGES)
        line, seconds = await importing.importing(house, pages, count)
        lines += [line, await importing.rebuilding(house, seconds)]
        lines.append(await searching.searching(house))
        lines += await deciding.deciding(house, DECISIONS)
        sizes = world.memory(house)
        total = sum(sizes.values())
        parts = ", ".join(f"{name} {size:.0f}" for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]))
        lines.append(
            table.Line(
                "memory of the whole brain", f"{total:.0f} MB", parts, total, AT_REST, at_least=False, unit=" MB"
            )
        )
    return lines


def main() -> int:
    """Exit code 1 where a line does not hold."""
    with tempfile.TemporaryDirectory() as folder:
        lines = asyncio.run(measure(Path(folder)))
    print(table.show(lines))
    table.write(ROOT / "docs" / "benchmarks.md", lines, NOTES)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
