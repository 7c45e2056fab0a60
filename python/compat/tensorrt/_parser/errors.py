"""ParserError: one thing that is wrong with a model; and lists of them."""
from __future__ import annotations

from typing import Any

from tenfold.errors import Error
from tenfold.tensorrt._enums import ErrorCode
from tenfold.tensorrt._logger import ILogger, fail
from tenfold.tensorrt._names import Named

_CODES = {'unsupported': 'UNSUPPORTED_NODE', 'invalid_model': 'INVALID_NODE', 'io': 'MODEL_DESERIALIZE_FAILED',
          'out_of_memory': 'MEM_ALLOC_FAILED', 'invalid_argument': 'INVALID_VALUE'}


class ParserError:
    """One thing that is wrong with a model."""

    def __init__(self, kind: str, text: str, node: str = '', op: str = '', index: int = -1) -> None:
        name = _CODES.get(kind, 'INTERNAL_ERROR')
        if name == 'INVALID_NODE' and not op:
            name = 'INVALID_GRAPH'
        self._code, self._text, self._node, self._op, self._index = ErrorCode[name], text, node, op, index

    def code(self) -> ErrorCode: return self._code
    def desc(self) -> str: return self._text
    def node_name(self) -> str: return self._node
    def node_operator(self) -> str: return self._op

    def node(self) -> int:
        """Its number in the file's graph, or that of the node around it; -1: no node's."""
        return self._index

    def file(self) -> str: return ''       # of a parser's source: the text says what and where
    def line(self) -> int: return 0
    def func(self) -> str: return ''

    def local_function_stack(self) -> list[str]:
        """Functions around the node: not told, for names with slashes are exporters' own, too."""
        return []

    def local_function_stack_size(self) -> int: return len(self.local_function_stack())

    def __str__(self) -> str: return f'{self._code.name}: {self._text}'
    __repr__ = __str__


def of_problem(p: Any) -> ParserError: return ParserError(p.kind, str(p), p.node, p.op, p.node_index)


class Errors(Named):
    """What has a list of them."""

    _logger: ILogger
    _errors: list[ParserError]

    def _refuse(self, *errors: ParserError) -> bool:
        self._errors = list(errors)
        for error in errors:
            fail(self._logger, error)
        return False

    def _refuse_error(self, error: Error) -> bool:
        problems = [of_problem(p) for p in error.problems]
        return self._refuse(*(problems or [ParserError(error.kind, str(error), error.node or '', error.op or '')]))

    @property
    def num_errors(self) -> int: return len(self._errors)

    def get_error(self, index: int) -> ParserError:
        if not 0 <= index < len(self._errors):
            raise IndexError(f'there is no error {index}: there are {len(self._errors)}')
        return self._errors[index]

    def clear_errors(self) -> None: self._errors = []
