"""Versions of Triton that the drop-in supports."""

from __future__ import annotations

OLDEST = (3, 6)
NEWEST = (3, 9)
KNOWN = " to ".join(".".join(map(str, release)) for release in (OLDEST, NEWEST))


def release_of(version: str) -> tuple[int, int] | None:
    """Major and minor number of "3.6.0+git1234"; None for other texts."""
    parts = version.split(".")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    return int(parts[0]), int(parts[1])


def why_not(version: str) -> str:
    """Reason why the drop-in does not work under this version of Triton; "" if there is none."""
    release = release_of(version)
    if release is None or not OLDEST <= release <= NEWEST:
        return f"Triton {version} is not among {KNOWN}, which the drop-in knows"
    return ""
