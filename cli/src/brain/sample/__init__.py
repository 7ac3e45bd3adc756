"""A company that does not exist, Ulvsund & Morrow: its pages, and captures of which some disagree with a page.

A capture's file is named `<source>--<name>.md`, which is what pages refer to as `capture:<source>/<name>`.
"""
