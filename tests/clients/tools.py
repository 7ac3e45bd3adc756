"""The page that every client finds, searches and reads, and what each answer has to hold."""

from dataclasses import dataclass

from replicas import Page

PAGE = Page("clients/cobalt-quoin.md", "Cobalt quoin", "verdigris")
READ_TOOLS = ["find_page", "read_page", "search"]
CALLS: dict[str, dict[str, object]] = {
    "find_page": {"query": PAGE.title},
    "read_page": {"path": PAGE.path},
    "search": {"query": f"{PAGE.title} {PAGE.word}"},
}
PROPOSAL: dict[str, object] = {"kind": "observation", "title": "The quoin", "body": "It is teal, not cobalt."}


@dataclass(frozen=True, slots=True)
class Served:
    """Where the brain answers, and a token that was made by hand."""

    address: str
    token: str


def check(tool: str, structured: object, words: str) -> None:
    """What a tool answered shows the page, in structure and in words."""
    assert isinstance(structured, dict), structured
    if tool == "read_page":
        found = structured
        assert f"The {PAGE.word} stands here." in str(found["text"])
        assert f"The {PAGE.word} stands here." in words
    else:
        found = structured["pages" if tool == "find_page" else "hits"][0]
        assert PAGE.path in words
    assert (found["path"], found["title"]) == (PAGE.path, PAGE.title)
    if tool != "find_page":
        assert found["receipt"]["approver"] == "alice"
