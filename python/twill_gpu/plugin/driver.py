"""A driver for no GPU. Triton asks each driver before the first launch; the question switches the drop-in on."""

from __future__ import annotations

from typing import Any

from triton.backends.driver import DriverBase

from ._switch import at_first_question, without_abstract_methods


@without_abstract_methods
class NoDriver(DriverBase):
    """Drives no GPU."""

    @classmethod
    def is_active(cls) -> bool:
        at_first_question()
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise NotImplementedError("this driver drives nothing")

    def get_current_target(self) -> Any:
        raise NotImplementedError("this driver drives nothing")

    def get_active_torch_device(self) -> Any:
        raise NotImplementedError("this driver drives nothing")

    def get_benchmarker(self) -> Any:
        raise NotImplementedError("this driver drives nothing")
