"""Which parts of a model a build would take: OnnxParser.supports_model() and what tells of the parts."""
from __future__ import annotations

from typing import Any

from tenfold import _native
from tenfold._build import _model
from tenfold._registry import put_plugins
from tenfold.errors import Error
from tenfold.tensorrt._logger import native_log
from tenfold.tensorrt._parser.errors import of_problem
from tenfold.tensorrt._parser.model_source import ModelSource, folders_of
from tenfold.tensorrt._plugins.operators import on_host, operators


class NodeIndices(list):   # type: ignore[type-arg]
    """Numbers of a file's nodes."""


class SubGraphCollection(list):   # type: ignore[type-arg]
    """(nodes, supported) of each part."""


class Subgraphs(ModelSource):
    _parts: SubGraphCollection = SubGraphCollection()   # of the last model that was asked about; never changed in place

    def supports_model(self, model: Any, path: str | None = None) -> tuple[bool, SubGraphCollection]:
        """Whether all of it is supported, and its parts: neighbors among its nodes that are alike, in the file's order. What
        reads results of an unsupported node is judged by operator and attributes alone. get_error(i) tells what is wrong."""
        whole = self.supports_model_v2(model, path)
        return whole, self._parts

    def supports_model_v2(self, model: Any, path: str | None = None) -> bool:
        """num_subgraphs, get_subgraph_nodes() and is_subgraph_supported() tell of the parts."""
        self._errors, self._parts = [], SubGraphCollection()
        options = put_plugins({'external_data_dirs': folders_of(path), 'log': native_log(self._logger), 'plugins': operators(on_host())})
        try:
            found = _native.check(_model(model), options)
            self._parts = SubGraphCollection((NodeIndices(nodes), good) for nodes, good in _native.model_parts(_model(model), found))
        except Error as error:
            return self._refuse_error(error)
        return not found or self._refuse(*map(of_problem, found))

    @property
    def num_subgraphs(self) -> int: return len(self._parts)

    def _part(self, index: int) -> tuple[NodeIndices, bool]:
        if not 0 <= index < len(self._parts):
            raise IndexError(f'there is no subgraph {index}: supports_model_v2() found {len(self._parts)}')
        return self._parts[index]   # type: ignore[no-any-return]

    def get_subgraph_nodes(self, index: int) -> NodeIndices: return self._part(index)[0]
    def is_subgraph_supported(self, index: int) -> bool: return self._part(index)[1]
