"""The encoder of multilingual-e5-small as an ONNX graph with eight-bit matrix products.

Weights have one scale an output column. Activations have one scale a TOKEN: with one scale a run,
as dynamic quantisation usually does it, a text's vector would depend on what was computed beside it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embedder.models.onnx_graph import CONTRIB, Graph
from embedder.models.weights import Weights, unpack

_LEVELS = 127
_CENTRE = 128


class Encoder:
    """Builds the graph: embeddings of tokens go in (`tokens`, `mask`, `pool`), pooled states come out."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._hidden = weights.shape.hidden
        self._graph = graph = Graph("multilingual-e5-small")
        self._step = graph.constant(np.array(1 / _LEVELS, np.float32))
        self._centre = graph.constant(np.array(_CENTRE, np.uint8))
        self._epsilon = graph.constant(np.array(weights.shape.epsilon, np.float32))
        self._average = graph.constant(np.full((self._hidden, 1), 1 / self._hidden, np.float32))
        self._thirds = graph.constant(np.array([self._hidden] * 3, np.int64))

    def serialise(self) -> bytes:
        """The whole model; its only output is named by `onnxruntime` as the first."""
        graph = self._graph
        tokens = graph.takes("tokens", "float32", "texts", "length", self._hidden)
        mask = graph.takes("mask", "int32", "texts", "length")
        pool = graph.takes("pool", "float32", "texts", 1, "length")
        states = self._normalised(tokens, "emb.ln")
        for layer in range(self._weights.shape.layers):
            states = self._layer(states, mask, f"l{layer}.")
        pooled = graph.node("MatMul", pool, states)
        graph.gives(pooled, "float32", "texts", 1, self._hidden)
        return graph.serialise()

    def _layer(self, states: str, mask: str, name: str) -> str:
        graph = self._graph
        projected = graph.node("Add", *self._product(states, name, ("q", "k", "v"), self._hidden))
        query, key, value = graph.several("Split", projected, self._thirds, outputs=3, axis=-1)
        heads = self._weights.shape.heads
        seen = graph.node("MultiHeadAttention", query, key, value, "", mask, domain=CONTRIB, num_heads=heads)
        attended = graph.node("Add", *self._product(seen, name, ("ao",), self._hidden))
        states = self._normalised(graph.node("Add", states, attended), name + "aln")
        wide = graph.node("BiasGelu", *self._product(states, name, ("fi",), self._hidden), domain=CONTRIB)
        narrow = graph.node("Add", *self._product(wide, name, ("fo",), self._weights.shape.feed_forward))
        return self._normalised(graph.node("Add", states, narrow), name + "oln")

    def _product(self, left: str, name: str, parts: Sequence[str], columns: int) -> tuple[str, str]:
        """A matrix product in eight bits, and the bias that is still to be added to it."""
        graph = self._graph
        matrix = unpack(np.concatenate([self._weights.packed(f"{name}{part}.w", columns) for part in parts]))
        scales = np.abs(matrix).max(axis=1, keepdims=True) / _LEVELS
        levels = graph.constant(np.ascontiguousarray(np.rint(matrix / scales).T.astype(np.int8)))
        widest = graph.node("ReduceMax", graph.node("Abs", left), axes=[-1], keepdims=1)
        coded = graph.node("QuantizeLinear", graph.node("Div", left, widest), self._step, self._centre)
        weight_scale = graph.constant(np.ascontiguousarray(scales[:, 0], np.float32))
        product = graph.node(
            "MatMulIntegerToFloat", coded, levels, self._step, weight_scale, self._centre, domain=CONTRIB
        )
        bias: NDArray[np.float32] = np.concatenate([self._weights.plain(f"{name}{part}.b") for part in parts])
        return graph.node("Mul", product, widest), graph.constant(bias)

    def _normalised(self, states: str, name: str) -> str:
        """Layer normalisation in single steps: measured faster here than the fused kernel."""
        graph = self._graph
        centred = graph.node("Sub", states, graph.node("MatMul", states, self._average))
        variance = graph.node("MatMul", graph.node("Mul", centred, centred), self._average)
        deviation = graph.node("Sqrt", graph.node("Add", variance, self._epsilon))
        scaled = graph.node(
            "Mul", graph.node("Div", centred, deviation), graph.constant(self._weights.plain(name + ".w"))
        )
        return graph.node("Add", scaled, graph.constant(self._weights.plain(name + ".b")))
