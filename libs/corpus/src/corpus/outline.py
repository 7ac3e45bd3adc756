"""A text's blocks and sections, by line and by character; the ground that chunks and statements stand on."""

import re
from collections.abc import Iterator

import msgspec
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

# Inline text is not parsed: it is the costly part, and only headings need it.
_BLOCKS = MarkdownIt("commonmark").enable("table").disable("inline")
_INLINE = MarkdownIt("commonmark")
_MAX_HEADING = 500
_CONTROL = re.compile("[\x00-\x1f\x7f]+")
_DEFINITION = re.compile(r"^ {0,3}\[\^([^\[\]\s]+)\]:[ \t]*(.*)$")
_NEW_BLOCK = re.compile(r" {0,3}(?:#{1,6}(?:\s|$)|[-*+>|]|\d{1,9}[.)]\s|```|~~~|\[\^[^\[\]\s]+\]:|<)")


class Section(msgspec.Struct, frozen=True):
    """The lines between two headings, with the path of headings above them and the blocks in them."""

    heading: tuple[str, ...]
    first: int
    end: int
    blocks: tuple[SyntaxTreeNode, ...]


class Footnote(msgspec.Struct, frozen=True):
    """A footnote's definition: its label, its text on one line, and the lines it takes."""

    label: str
    text: str
    first: int
    end: int


class Outline(msgspec.Struct, frozen=True):
    """A text with the offset of each line's start; one more offset stands for the end."""

    text: str
    starts: tuple[int, ...]
    root: SyntaxTreeNode

    def slice(self, first: int, end: int) -> str:
        """The text of lines `first` to `end`, the latter excluded."""
        return self.text[self.starts[first] : self.starts[end]]


def outline(text: str) -> Outline:
    """Parse the blocks of a text. Foreign line ends count as one and move no offset."""
    lined = text.replace("\r\n", " \n").replace("\r", "\n")
    starts = [0, *(match.end() for match in re.finditer("\n", lined))]
    if starts[-1] != len(lined):
        starts.append(len(lined))
    return Outline(text, tuple(starts), SyntaxTreeNode(_BLOCKS.parse(lined)))


def sections(parsed: Outline) -> Iterator[Section]:
    """Every stretch of lines under its path of headings. Headings inside fences, quotes and lists open none."""
    path: list[tuple[int, str]] = []
    first = 0
    blocks: list[SyntaxTreeNode] = []
    for node in parsed.root.children:
        if node.map is None:
            continue
        if node.type != "heading":
            blocks.append(node)
            continue
        yield Section(tuple(title for _, title in path), first, node.map[0], tuple(blocks))
        level = int(node.tag[1])
        path = [*(above for above in path if above[0] < level), (level, heading_text(node))]
        first, blocks = node.map[1], []
    yield Section(tuple(title for _, title in path), first, len(parsed.starts) - 1, tuple(blocks))


def heading_text(node: SyntaxTreeNode) -> str:
    """A heading as a reader sees it, without marks."""
    return plain(node.children[0].content if node.children else "")


def plain(inline: str) -> str:
    """Inline Markdown as one line of plain words; links keep their text, images their description."""
    parsed = _INLINE.parseInline(inline[:_MAX_HEADING])
    words: list[str] = []
    for token in parsed[0].children or []:
        if token.type in ("text", "code_inline", "image"):
            words.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            words.append(" ")
    return " ".join(_CONTROL.sub(" ", "".join(words)).split())


def footnotes(parsed: Outline) -> list[Footnote]:
    """Every footnote definition outside code, in order."""
    code = {line for node in parsed.root.walk() if node.type in ("fence", "code_block") and node.map
            for line in range(*node.map)}  # fmt: skip
    found: list[Footnote] = []
    count = len(parsed.starts) - 1
    line = 0
    while line < count:
        match = _DEFINITION.match(parsed.slice(line, line + 1).rstrip("\r\n"))
        if match is None or line in code:
            line += 1
            continue
        end = _footnote_end(parsed, line, count)
        lines = (parsed.slice(number, number + 1).strip() for number in range(line + 1, end))
        found.append(Footnote(match[1], " ".join(filter(None, (match[2].strip(), *lines))), line, end))
        line = end
    return found


def _footnote_end(parsed: Outline, first: int, count: int) -> int:
    """A definition goes on in lazy lines up to a blank one, and in further paragraphs that are indented."""
    end, line = first + 1, first + 1
    while line < count:
        text = parsed.slice(line, line + 1)
        indented = text.startswith(("    ", "\t"))
        if text.strip() and not indented and (line > end or _NEW_BLOCK.match(text)):
            break
        line += 1
        end = line if text.strip() else end
    return end
