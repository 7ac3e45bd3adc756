"""Finding the Markdown of a folder, and cutting it into parts."""

import json
import os
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from brain import folder
from contracts.enums import Refusal
from contracts.errors import Refused
from contracts.ingest_messages import ImportFile
from corpus import paths
from corpus.errors import Malformed
from shared_data import archive


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, body in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)


def sent(root: Path) -> tuple[folder.Folder, dict[str, bytes]]:
    found = folder.look(root)
    return found, {file.path: file.text for part in folder.parts(found) for file in part}


def test_markdown_of_every_ending_is_sent_and_the_rest_is_counted(tmp_path: Path) -> None:
    files = {"a.md": b"1", "b.mdx": b"2", "c/d.md.erb": b"3", "c/e.html.md.erb": b"4", "F.MD": b"5"}
    write(tmp_path, files | {"pic.png": b"", "notes.txt": b"", "md": b""})
    found, bodies = sent(tmp_path)
    assert bodies == files
    assert (found.refused, found.skipped) == ([], 3)


def test_folders_that_begin_with_a_dot_are_passed_by(tmp_path: Path) -> None:
    write(tmp_path, {".git/a.md": b"1", "b/.cache/c.md": b"2", "b/d.md": b"3"})
    assert list(sent(tmp_path)[1]) == ["b/d.md"]


def test_links_count_where_they_lead_to_a_file_of_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path, {"outside/secret.md": b"s", "root/real.md": b"r"})
    (root / "inside.md").symlink_to(root / "real.md")
    (root / "leads-out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "broken.md").symlink_to(root / "nowhere.md")
    (root / "loop").symlink_to(root)
    (root / "circle.md").symlink_to(root / "back.md")
    (root / "back.md").symlink_to(root / "circle.md")
    (root / "out").symlink_to(tmp_path / "outside")
    found, bodies = sent(root)
    assert bodies == {"real.md": b"r", "inside.md": b"r"}
    assert found.skipped == 6


def test_what_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "waits.md")
    (tmp_path / "folder.md").mkdir()
    found, bodies = sent(tmp_path)
    assert (bodies, found.names, found.skipped) == ({}, [], 1)


def test_a_file_that_is_larger_than_a_page_is_refused_without_being_sent(tmp_path: Path) -> None:
    write(tmp_path, {"big.md": b"x" * (10 * 1024 * 1024), "just.md": b"x" * (256 * 1024)})
    found, bodies = sent(tmp_path)
    assert [(one.file, one.category) for one in found.refused] == [("big.md", Refusal.TOO_LARGE)]
    assert list(bodies) == ["just.md"]
    assert found.names == ["big.md", "just.md"]


def test_a_name_that_is_not_utf8_is_refused_and_shown_escaped(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))).write_bytes(b"1")
    found, bodies = sent(tmp_path)
    assert [(one.file, one.category) for one in found.refused] == [("caf\\udce9.md", Refusal.PATH)]
    assert (bodies, found.names) == ({}, [])


def test_a_file_that_vanishes_before_it_is_read_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": b"1", "b.md": b"2"})
    found = folder.look(tmp_path)
    (tmp_path / "a.md").unlink()
    assert [file.path for part in folder.parts(found) for file in part] == ["b.md"]
    assert [(one.file, one.category) for one in found.refused] == [("a.md", Refusal.UNREADABLE)]


def test_no_folder_no_import(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path / ("x" * 300)):
        with pytest.raises(Refused) as told:
            folder.look(path)
        assert told.value.code == "no_such_folder"


def test_a_file_in_place_of_a_folder_is_called_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": b"1"})
    with pytest.raises(Refused) as told:
        folder.look(tmp_path / "a.md")
    assert (told.value.code, told.value.where) == ("not_a_folder", str(tmp_path / "a.md"))
    assert "file" in told.value.what


def test_a_source_is_called_the_same_however_its_folder_is_spelled(tmp_path: Path) -> None:
    assert folder.slug(tmp_path / "Caf\u00e9") == folder.slug(tmp_path / "Cafe\u0301") == "cafe"


def test_collisions_are_told_over_the_whole_folder_refused_files_included(tmp_path: Path) -> None:
    write(tmp_path, {"A b.md": b"1", "a-b.md": b"x" * (300 * 1024), "c.md": b"3", "c.mdx": b"4", "d.md": b"5"})
    assert folder.colliding(folder.look(tmp_path)) == {"A b.md", "a-b.md", "c.md", "c.mdx"}


def test_parts_are_small_enough_for_a_message(tmp_path: Path) -> None:
    write(tmp_path, {f"{number:03}.md": b"x" * size for number, size in enumerate([256 * 1024, 90_000, 90_000, 5] * 4)})
    write(tmp_path, {f"small/{number:04}-{'n' * 150}.md": b"y" for number in range(700)})
    found = folder.look(tmp_path)
    parts = list(folder.parts(found))
    assert sum(map(len, parts)) == 716
    for part in parts:
        assert len(part) <= folder.MOST_FILES
        assert len(msgspec.json.encode((part, [file.path for file in part]))) < 512 * 1024 - 4096


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("Handbook", "handbook"),
        ("My Notes (2026)", "my-notes-2026"),
        ("Ærlig", "rlig"),
        ("日本", "folder"),
        ("x" * 80, "x" * 64),
    ],
)
def test_a_source_is_called_after_its_folder(tmp_path: Path, name: str, source: str) -> None:
    (tmp_path / name).mkdir()
    assert folder.slug(tmp_path / name) == source


def test_hostile_names_are_found_as_they_are_and_proposed_or_refused_whole(tmp_path: Path) -> None:
    strings: list[str] = json.loads((archive("unicode-paths") / "blns.json").read_text())
    made = 0
    for text in strings:
        name = f"{text}.md".replace("/", "_")
        if "\0" in name or len(os.fsencode(name)) > 255:
            continue
        (tmp_path / name).write_bytes(b"Text.\n")
        made += 1
    found, bodies = sent(tmp_path)
    assert made > 300
    assert len(found.names) == len({path.name for path in tmp_path.iterdir()})
    assert set(bodies) == set(found.names)
    for name in found.names:
        with suppress(Malformed):
            proposed = paths.propose(name)
            assert paths.check(proposed) == proposed


def test_a_part_reads_as_it_was_written(tmp_path: Path) -> None:
    body = bytes(range(256))
    write(tmp_path, {"a.md": body})
    (part,) = folder.parts(folder.look(tmp_path))
    read = msgspec.json.decode(msgspec.json.encode(part), type=list[ImportFile])
    assert read[0].text == body
