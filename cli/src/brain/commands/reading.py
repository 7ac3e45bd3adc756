"""`brain search` and `brain read`: what a client of MCP sees, at the console."""

import os
from collections.abc import Iterator

import click

from brain import mcp, output
from brain.stack.home import Ports, first_port, locate
from brain.stack.programs import urls

TOKEN = click.option("--token", envvar="BRAIN_TOKEN", required=True, help="A token of this brain (or BRAIN_TOKEN).")


def _call(token: str, tool: str, **arguments: object) -> dict[str, object]:
    address = urls(Ports(first_port(os.environ, locate(os.environ))))["mcp"]
    return mcp.call(address, token, tool, arguments).structured_content or {}


@click.command()
@click.argument("query")
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 20), help="Passages at most.")
@TOKEN
@output.json_option
def search(*, query: str, limit: int, token: str, as_json: bool) -> None:
    """Search the brain with the rights of a token, and show passages with their receipts."""
    found = _call(token, "search", query=query, limit=limit)
    output.show(found, passages(found), as_json=as_json)


@click.command()
@click.argument("path")
@TOKEN
@output.json_option
def read(*, path: str, token: str, as_json: bool) -> None:
    """Read one page with the rights of a token."""
    page = _call(token, "read_page", path=path)
    output.show(page, receipt_of(page), as_json=as_json, body=str(page.get("text", "")))


def receipt_of(answer: dict[str, object]) -> Iterator[str]:
    """What an answer stands on, in a line; the digest's beginning is enough to compare by eye."""
    receipt = answer.get("receipt")
    if isinstance(receipt, dict):
        approved = f"revision {receipt.get('revision')}, approved by {receipt.get('approver')}"
        where = f"position {receipt.get('position')}, digest {str(receipt.get('digest', ''))[:12]}"
        yield f"receipt: {approved} at {receipt.get('approved_at')}, {where}"


def passages(found: dict[str, object]) -> Iterator[str]:
    hits = found.get("hits")
    for number, hit in enumerate(hits if isinstance(hits, list) else [], 1):
        heading = hit.get("heading")
        trail = " > ".join(heading) if isinstance(heading, list) else str(heading or "")
        yield f"{number}. {hit.get('path')}  {trail}  [{hit.get('trust')}]"
        yield f"   {' '.join(str(hit.get('text', '')).split())[:240]}"
        for line in receipt_of(hit):
            yield f"   {line}"
    if not hits:
        yield "Nothing found."
