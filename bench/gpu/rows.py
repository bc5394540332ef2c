"""The file of results of measure.py, and the rows that it already has."""
import json
import time


def read(path, session):
    """The rows of an earlier run, which must have used the same device and libraries."""
    if not path or not path.exists():
        return []
    found = json.loads(path.read_text())
    other = [f"{key} {found[key]}, here {session[key]}" for key in session if found[key] != session[key]]
    if other:
        raise SystemExit(f"{path} is of another session: {'; '.join(other)}")
    return found["rows"]


def write(path, session, rows):
    """Writes the file, whole or not at all."""
    half = path.with_name(path.name + ".new")
    half.write_text(json.dumps(dict(**session, date=time.strftime("%Y-%m-%d"), rows=rows), indent=1))
    half.rename(path)


def without(rows, name, dtype, size):
    return [row for row in rows if (row["kernel"], row["dtype"], tuple(row["size"])) != (name, dtype, tuple(size))]


def are_there(rows, name, dtype, size, strategies):
    """Whether every one of the strategies has its rows for a kernel at that size."""
    whos = {row["who"] for row in rows if (row["kernel"], row["dtype"], tuple(row["size"])) == (name, dtype, tuple(size))}
    return whos >= {f"twill:{strategy}" for strategy in strategies}
