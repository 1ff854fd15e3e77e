"""The fixture that `ways.every_way` chooses from."""

from ways import way

__all__ = ["way"]
