"""Writes the golden example and the JSON schema of every fact version that has none yet.

What is there is never overwritten: a file that no longer fits is what the golden test is for.
"""

import sys
from pathlib import Path

import msgspec

from contracts import codec
from contracts.catalogue import BY_SHAPE, Entry
from contracts.controls import ALICE, BRAIN, EXAMPLES, NOON
from contracts.ids import CommandId, fact_id

CONTRACTS = Path(__file__).resolve().parent.parent / "libs" / "contracts"


def schema_of(entry: Entry) -> str:
    """The JSON schema of a fact's latest shape, root inlined, keys sorted."""
    (root,), parts = msgspec.json.schema_components([entry.shape], ref_template="#/$defs/{name}")
    name = str(root["$ref"]).rsplit("/", 1)[-1]
    whole = {**parts.pop(name), **({"$defs": parts} if parts else {})}
    return msgspec.json.format(msgspec.json.encode(whole, order="sorted"), indent=2).decode() + "\n"


def example_of(fact: msgspec.Struct) -> str:
    """A whole fact, as it stands in the log but for its signature."""
    command = CommandId(BRAIN)
    envelope = codec.seal(fact, id=fact_id(command, 0), brain=BRAIN, actor=ALICE, occurred_at=NOON, correlation=command)
    return msgspec.json.format(codec.encode(envelope), indent=2).decode() + "\n"


def main() -> int:
    """Write what is missing; says what it wrote."""
    for fact in EXAMPLES:
        entry = BY_SHAPE[type(fact)]
        for path, text in (
            (CONTRACTS / "examples" / entry.name / f"v{entry.version}.json", example_of(fact)),
            (CONTRACTS / "schemas" / f"{entry.name}.v{entry.version}.schema.json", schema_of(entry)),
        ):
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                print(path.relative_to(CONTRACTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
