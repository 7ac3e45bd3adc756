"""The one exception of this package."""


class Malformed(Exception):
    """Text that breaks a rule of the page format.

    `code` is stable snake_case; `what` is one sentence that names keys, lines and code points but never quotes
    content; `line` and `column` count from 1 and are absent where the fault has no single place.
    """

    def __init__(self, code: str, what: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = "" if self.line is None else f" (line {self.line}, column {self.column or 1})"
        return f"{self.code}: {self.what}{place}"
