"""A backend for no target. Triton asks each backend before it compiles; the first question switches the drop-in on."""

from __future__ import annotations

from typing import Any

from triton.backends.compiler import BaseBackend

from ._switch import at_first_question, without_abstract_methods


@without_abstract_methods
class NoBackend(BaseBackend):
    """Supports no target."""

    @staticmethod
    def supports_target(target: Any) -> bool:
        at_first_question()
        return False

    def hash(self) -> str:
        return ""

    def parse_options(self, options: dict[str, Any]) -> object:
        raise NotImplementedError("this backend compiles nothing")

    def add_stages(self, stages: dict[str, Any], options: object, language: Any) -> None:
        raise NotImplementedError("this backend compiles nothing")

    def load_dialects(self, context: Any) -> None:
        raise NotImplementedError("this backend compiles nothing")

    def get_module_map(self) -> dict[str, Any]:
        return {}
