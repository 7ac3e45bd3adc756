"""Writes an ONNX model as bytes, with just the parts of the format that our encoder needs.

ONNX files are protocol-buffer messages; the field numbers below are those of `onnx.proto3`.
Writing them here spares the `onnx` package and its download.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_ELEMENT = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
_ATTRIBUTE_INT, _ATTRIBUTE_INTS = 2, 7
_IR_VERSION, _OPSET, _CONTRIB_OPSET = 8, 17, 1
CONTRIB = "com.microsoft"
"""The operator set of onnxruntime's own fused kernels."""


def _varint(number: int) -> bytes:
    number &= 0xFFFF_FFFF_FFFF_FFFF
    groups = []
    while number > 0x7F:  # noqa: PLR2004 - seven bits a byte is the format
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _nested(field: int, value: bytes | str) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _attribute(name: str, value: int | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _nested(1, name) + _number(3, value) + _number(20, _ATTRIBUTE_INT)
    return _nested(1, name) + b"".join(_number(8, each) for each in value) + _number(20, _ATTRIBUTE_INTS)


def _signature(name: str, element: str, dimensions: Sequence[int | str]) -> bytes:
    sizes = b"".join(_nested(1, _nested(2, size) if isinstance(size, str) else _number(1, size)) for size in dimensions)
    return _nested(1, name) + _nested(2, _nested(1, _number(1, _ELEMENT[element]) + _nested(2, sizes)))


class Graph:
    """A graph under construction. Values are known by name; every call appends and returns names."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[bytes] = []
        self._boundary: list[bytes] = []
        self._count = 0

    def _fresh(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def takes(self, name: str, element: str, *dimensions: int | str) -> str:
        """Declare an input; a dimension given as a word may differ between runs."""
        self._boundary.append(_nested(11, _signature(name, element, dimensions)))
        return name

    def gives(self, name: str, element: str, *dimensions: int | str) -> None:
        """Declare an existing value as an output."""
        self._boundary.append(_nested(12, _signature(name, element, dimensions)))

    def constant(self, values: NDArray[np.generic]) -> str:
        """A tensor that is part of the model."""
        name = self._fresh()
        shape = b"".join(_number(1, size) for size in values.shape)
        kind = _number(2, _ELEMENT[values.dtype.name])
        self._parts.append(_nested(5, shape + kind + _nested(8, name) + _nested(9, values.tobytes())))
        return name

    def several(
        self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: int | Sequence[int]
    ) -> list[str]:
        """Append an operator with a number of outputs; an empty input name leaves that input out."""
        names = [self._fresh() for _ in range(outputs)]
        edges = b"".join(_nested(1, name) for name in inputs) + b"".join(_nested(2, name) for name in names)
        settings = b"".join(_nested(5, _attribute(name, value)) for name, value in attributes.items())
        self._parts.append(_nested(1, edges + _nested(4, operator) + settings + _nested(7, domain)))
        return names

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: int | Sequence[int]) -> str:
        """Append an operator with one output."""
        (name,) = self.several(operator, *inputs, outputs=1, domain=domain, **attributes)
        return name

    def serialise(self) -> bytes:
        """The whole model, as onnxruntime loads it."""
        graph = b"".join(self._parts) + _nested(2, self._name) + b"".join(self._boundary)
        opsets = _nested(8, _nested(1, "") + _number(2, _OPSET))
        opsets += _nested(8, _nested(1, CONTRIB) + _number(2, _CONTRIB_OPSET))
        return _number(1, _IR_VERSION) + _nested(7, graph) + opsets
