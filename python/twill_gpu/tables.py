"""HTML tables, for notebooks."""

from __future__ import annotations

import html
from typing import Any, Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """An HTML table; "" without rows."""
    if not rows:
        return ""
    cells = "".join(f"<th>{html.escape(word)}</th>" for word in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
