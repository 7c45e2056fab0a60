"""How an engine is written and how its contexts are made: ISerializationConfig, IRuntimeConfig."""
from __future__ import annotations


from tenfold.tensorrt._enums import ExecutionContextAllocationStrategy, SerializationFlag
from tenfold.tensorrt._logger import ILogger, say_once
from tenfold.tensorrt._names import Named, refused


class ISerializationConfig(Named):
    """Plans hold their weights, what a refit needs where they were built for it, and no runtime."""

    def __init__(self, logger: ILogger) -> None:
        self._logger = logger
        self._flags: set[SerializationFlag] = set()

    def set_flag(self, flag: SerializationFlag) -> bool:
        flag = SerializationFlag(flag)
        if flag.name == 'EXCLUDE_WEIGHTS':
            raise refused(str(flag), 'plans keep their weights')
        say_once(self._logger, f'{flag} has no effect in Tenfold: plans hold no runtime, and what a refit '
                 'needs where they were built for it')
        self._flags.add(flag)
        return True

    def clear_flag(self, flag: SerializationFlag) -> bool:
        self._flags.discard(SerializationFlag(flag))
        return True

    def get_flag(self, flag: SerializationFlag) -> bool: return SerializationFlag(flag) in self._flags

    @property
    def flags(self) -> int:
        """A mask: 1 << int(flag) of each."""
        return sum(1 << int(flag) for flag in self._flags)

    @flags.setter
    def flags(self, mask: int) -> None:
        if SerializationFlag.unknown(mask):
            raise ValueError(f'flags {mask:#x} has bits that are no SerializationFlag')
        self._flags = set()
        for flag in SerializationFlag:
            if mask >> int(flag) & 1:
                self.set_flag(flag)


class IRuntimeConfig(Named):
    def __init__(self) -> None:
        self._strategy = ExecutionContextAllocationStrategy.STATIC

    def set_execution_context_allocation_strategy(
            self, strategy: ExecutionContextAllocationStrategy = ExecutionContextAllocationStrategy.STATIC) -> None:
        self._strategy = ExecutionContextAllocationStrategy(strategy)

    def get_execution_context_allocation_strategy(self) -> ExecutionContextAllocationStrategy: return self._strategy
