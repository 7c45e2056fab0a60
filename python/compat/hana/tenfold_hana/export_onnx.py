"""A folder's encoder as an ONNX file for other engines: input_ids and attention_mask in, embeddings out, padding left out by the mask.

    python -m langchain_hana.gpu.export_onnx --model sentence-transformers/all-mpnet-base-v2 --output model.onnx

Tenfold itself needs no such file: its engines are made of the folder, and pad nothing.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import tenfold
import tenfold.embeddings

from tenfold_hana._onnx_file import Graph, element_type
from tenfold_hana._pipeline import network_of, split

if TYPE_CHECKING:
    from collections.abc import Callable

_FAR = -1e4   # what a masked score gets: exp() of it is nothing, in 16 bits, too


class _Writer:
    """Copies networks into a graph, with the mask where tokens meet each other and where they become one vector."""

    def __init__(self, graph: Graph) -> None:
        import numpy as np
        self.np, self.graph, self._names, self._made = np, graph, {}, 0
        mask = graph.node('Cast', [graph.input('attention_mask', 'i64', ('batch', 'sequence'))], ['mask'], to=element_type('f32'))
        self.column = graph.node('Unsqueeze', [mask, self.integers(2)], ['mask_column'])        # [batch, sequence, 1]
        row = graph.node('Unsqueeze', [mask, self.integers(1, 2)], ['mask_row'])                # [batch, 1, 1, sequence]
        away = graph.node('Sub', [self.constant(np.float32(1)), row], [self.name()])
        self.bias = graph.node('Mul', [away, self.constant(np.float32(_FAR))], [self.name()])

    def name(self) -> str:
        self._made += 1
        return f'v{self._made}'

    def constant(self, value: Any) -> str:
        return self.graph.weight(self.name(), self.np.asarray(value))

    def integers(self, *values: int) -> str:
        return self.constant(self.np.array(values, self.np.int64))

    def bind(self, value: Any, name: str) -> None:
        self._names[value] = name

    def of(self, value: Any) -> str:
        """The name of a network's value; constants are written when they are first read."""
        if value is None:
            return ''
        if value not in self._names:
            self._names[value] = self.constant(value.value)
        return self._names[value]

    def copy(self, node: Any, change: Callable[[Any, list[str]], list[str]]) -> None:
        inputs, attributes = change(node, [self.of(value) for value in node.inputs]), node.attributes
        if 'axes' in attributes:   # an operand, as the standard has it
            inputs = [*inputs, self.integers(*attributes.pop('axes'))]
        if node.op == 'Cast':   # the network names types, the standard numbers them
            attributes['to'] = element_type(attributes['to'])
        for value in node.outputs:
            self.bind(value, self.name())
        self.graph.node(node.op, inputs, [self.of(value) for value in node.outputs], **attributes)

    def masked_scores(self, node: Any, inputs: list[str]) -> list[str]:
        if node.op == 'Softmax' and len(node.inputs[0].dims) == 4:
            return [self.graph.node('Add', [inputs[0], self.bias], [self.name()])]
        return inputs

    def mean(self, node: Any, tokens: str) -> None:
        kept, axes = self.graph.node('Mul', [tokens, self.column], [self.name()]), self.integers(1)
        total = self.graph.node('ReduceSum', [kept, axes], [self.name()], keepdims=0)
        count = self.graph.node('ReduceSum', [self.column, axes], [self.name()], keepdims=0)
        self.bind(node.outputs[0], self.graph.node('Div', [total, count], [self.name()]))

    def most(self, node: Any, tokens: str) -> None:
        kept = self.graph.node('Cast', [self.column], [self.name()], to=element_type('bool'))
        low = self.graph.node('Where', [kept, tokens, self.constant(self.np.float32(-3e38))], [self.name()])
        self.bind(node.outputs[0], self.graph.node('ReduceMax', [low, self.integers(1)], [self.name()], keepdims=0))

    def pool(self, node: Any) -> None:
        """A node behind the vectors of tokens: one over all tokens takes those that the mask keeps."""
        over_tokens = len(node.inputs[0].dims) == 3 and node.attributes.get('axes') == [1]
        special = {'ReduceMean': self.mean, 'ReduceMax': self.most}.get(node.op) if over_tokens else None
        if special:
            special(node, self.of(node.inputs[0]))
        else:
            self.copy(node, lambda node, inputs: inputs)


def _pooling_modes(folder: str) -> set[str]:
    """Kinds of pooling that the folder asks for, by what its file says."""
    try:
        with open(os.path.join(folder, 'modules.json'), encoding='utf-8') as file:
            paths = [module['path'] for module in json.load(file) if module['type'].endswith('.Pooling')]
        with open(os.path.join(folder, paths[0], 'config.json'), encoding='utf-8') as file:
            config = json.load(file)
    except (FileNotFoundError, IndexError):
        return {'mean'}
    named = config.get('pooling_mode')
    if named:
        return {named} if isinstance(named, str) else set(named)
    return {key.removeprefix('pooling_mode_').removesuffix('_tokens').removesuffix('_token') for key, value in config.items()
            if key.startswith('pooling_mode_') and value}


def export_onnx(model: Any, path: Any) -> None:
    """Writes `path`: input_ids and attention_mask, i64[batch, sequence], padded on the right, to embeddings, f32[batch, width].

    `model`: a folder, or a name in HF_HOME's cache. Raises FileError (no such model, or `path` cannot be written), Unsupported."""
    folder = tenfold.embeddings.find_folder(model)
    known = {'mean', 'cls', 'max'}
    if not _pooling_modes(folder) <= known:
        raise tenfold.Unsupported(f'{folder}: only pooling by mean, cls and max is exported, and this model has '
                                  f'{", ".join(sorted(_pooling_modes(folder) - known))}')
    encoder, pooling = split(network_of(folder))
    writer = _Writer(Graph(os.path.basename(os.path.abspath(folder))))
    ids = writer.graph.input('input_ids', 'i64', ('batch', 'sequence'))
    writer.bind(encoder.inputs[0], ids)
    for node in encoder.nodes:
        writer.copy(node, writer.masked_scores)
    writer.bind(pooling.inputs[0], writer.of(encoder.outputs[0]))
    for node in pooling.nodes:
        writer.pool(node)
    out = pooling.outputs[0]
    writer.graph.node('Identity', [writer.of(out)], ['embeddings'])
    writer.graph.output('embeddings', 'f32', ('batch', *out.dims[1:]))
    try:
        writer.graph.write(path)
    except OSError as error:
        raise tenfold.FileError(f'{path} cannot be written: {error}') from error
    except ValueError as error:
        raise tenfold.Unsupported(f'{folder}: {error}') from error


def main() -> None:
    parser = argparse.ArgumentParser(prog='python -m langchain_hana.gpu.export_onnx', description=(__doc__ or '').partition('\n')[0])
    parser.add_argument('--model', required=True, help="a folder, or a name in HF_HOME's cache")
    parser.add_argument('--output', required=True, help='the ONNX file')
    arguments = parser.parse_args()
    try:
        export_onnx(arguments.model, arguments.output)
    except tenfold.Error as error:
        sys.exit(f'export_onnx: {error}')
