"""IBuilderConfig: what a build may do. Fields that have no effect here are refused, or that is said once."""
from __future__ import annotations

from typing import Any

from tenfold import _native
from tenfold.errors import Error
from tenfold.tensorrt._config import fixed
from tenfold.tensorrt._config.algorithms import IAlgorithmSelector, Selection
from tenfold.tensorrt._config.flags import FIELDS, NO_EFFECT, REFITTABLE, REFUSED
from tenfold.tensorrt._config.int8 import Int8Config
from tenfold.tensorrt._config.profile import IOptimizationProfile
from tenfold.tensorrt._config.progress import IProgressMonitor
from tenfold.tensorrt._config.timing_cache import ITimingCache
from tenfold.tensorrt._enums import BuilderFlag, HardwareCompatibilityLevel, MemoryPoolType, PreviewFeature, TacticSource
from tenfold.tensorrt._logger import ILogger, fail, say_once
from tenfold.tensorrt._names import refused


# As of TensorRT 10, where cuBLAS and cuDNN are asked for; here they are tried all the same, unless set_tactic_sources() leaves them out.
DEFAULT_SOURCES = 1 << int(TacticSource.EDGE_MASK_CONVOLUTIONS) | 1 << int(TacticSource.JIT_CONVOLUTIONS)


class IBuilderConfig(Int8Config, fixed.Fixed):
    def __init__(self, logger: ILogger) -> None:
        self._logger = logger
        self.reset()

    def reset(self) -> None:
        """Back to the defaults; profiles go, too."""
        self._flags = {BuilderFlag.TF32}
        self._pools: dict[MemoryPoolType, int] = {}
        self._profiles: list[IOptimizationProfile] = []
        self._numbers: dict[str, int] = {}
        self._sources, self._sources_set = DEFAULT_SOURCES, False
        self._cache: ITimingCache | None = None
        self.progress_monitor = None
        self.algorithm_selector = None
        self._level = HardwareCompatibilityLevel.NONE
        self._features = {}
        self._noted: dict[str, Any] = {}
        self._reset_int8()

    # Flags.

    def set_flag(self, flag: BuilderFlag) -> None:
        flag = BuilderFlag(flag)
        if flag in REFUSED:
            raise refused(str(flag), REFUSED[flag])
        if flag in NO_EFFECT:
            say_once(self._logger, f'{flag} has no effect in Tenfold: {NO_EFFECT[flag]}')
        self._flags.add(flag)

    def clear_flag(self, flag: BuilderFlag) -> None:
        self._flags.discard(BuilderFlag(flag))

    def get_flag(self, flag: BuilderFlag) -> bool:
        return BuilderFlag(flag) in self._flags

    @property
    def flags(self) -> int:
        """A mask: 1 << int(flag) of each."""
        return sum(1 << int(flag) for flag in self._flags)

    @flags.setter
    def flags(self, mask: int) -> None:
        self.set_flags(mask)

    def set_flags(self, mask: int) -> None:
        if BuilderFlag.unknown(mask):
            raise ValueError(f'flags {mask:#x} has bits that are no BuilderFlag')
        requested = [flag for flag in BuilderFlag if mask >> int(flag) & 1]
        before, self._flags = self._flags, set()
        try:
            for flag in requested:
                self.set_flag(flag)
        except Error:
            self._flags = before
            raise

    # Memory.

    def set_memory_pool_limit(self, pool: MemoryPoolType, pool_size: int) -> None:
        pool = MemoryPoolType(pool)
        if pool.name != 'WORKSPACE':
            why = 'there is no DLA' if 'DLA' in pool.name else 'WORKSPACE limits what kernels work in'
            say_once(self._logger, f'{pool} has no effect in Tenfold: {why}')
        if pool_size < 0:
            raise ValueError(f'the limit of {pool} is a number of bytes, got {pool_size}')
        self._pools[pool] = int(pool_size)

    def get_memory_pool_limit(self, pool: MemoryPoolType) -> int:
        return self._pools.get(MemoryPoolType(pool), 0 if 'DLA' in MemoryPoolType(pool).name else 1 << 40)

    @property
    def max_workspace_size(self) -> int:
        return self.get_memory_pool_limit(MemoryPoolType.WORKSPACE)

    @max_workspace_size.setter
    def max_workspace_size(self, size: int) -> None:
        self.set_memory_pool_limit(MemoryPoolType.WORKSPACE, size)

    # How long the build searches, and among what.

    @property
    def builder_optimization_level(self) -> int: return self._numbers.get('optimization_level', 3)
    @builder_optimization_level.setter
    def builder_optimization_level(self, level: int) -> None: self._numbers['optimization_level'] = int(level)

    @property
    def max_num_tactics(self) -> int: return self._numbers.get('max_tactics', -1)
    @max_num_tactics.setter
    def max_num_tactics(self, count: int) -> None: self._numbers['max_tactics'] = int(count)

    @property
    def avg_timing_iterations(self) -> int: return self._numbers.get('timing_repetitions', 1)
    @avg_timing_iterations.setter
    def avg_timing_iterations(self, count: int) -> None: self._numbers['timing_repetitions'] = int(count)

    def set_tactic_sources(self, tactic_sources: int) -> bool:
        """A mask of TacticSource: whether cuBLAS and cuDNN are tried. Kernels of our own stand for the last two, and are tried always."""
        if TacticSource.unknown(tactic_sources):
            fail(self._logger, f'set_tactic_sources({tactic_sources:#x}) has bits that are no TacticSource')
            return False
        if DEFAULT_SOURCES & ~tactic_sources:
            say_once(self._logger, 'set_tactic_sources() without EDGE_MASK_CONVOLUTIONS or JIT_CONVOLUTIONS leaves nothing out in Tenfold: '
                     'kernels of its own stand for them')
        self._sources, self._sources_set = tactic_sources, True
        return True

    def get_tactic_sources(self) -> int: return self._sources

    def create_timing_cache(self, serialized_timing_cache: Any) -> ITimingCache | None:
        """From the bytes of one, or of no bytes."""
        try:
            return ITimingCache(_native.TimingCache.parse(bytes(serialized_timing_cache).decode()))
        except (Error, UnicodeDecodeError) as error:
            fail(self._logger, f'create_timing_cache(): {error}')
            return None

    def set_timing_cache(self, cache: ITimingCache, ignore_mismatch: bool = False) -> bool:
        self._cache = cache
        return True

    def get_timing_cache(self) -> ITimingCache | None: return self._cache

    # Profiles, and where plans may run.

    def add_optimization_profile(self, profile: IOptimizationProfile) -> int:
        """Its number; -1: something is wrong with it."""
        if wrong := profile._wrong():
            fail(self._logger, wrong)
            return -1
        self._profiles.append(profile)
        return len(self._profiles) - 1

    @property
    def num_optimization_profiles(self) -> int: return len(self._profiles)

    @property
    def hardware_compatibility_level(self) -> HardwareCompatibilityLevel: return self._level

    @hardware_compatibility_level.setter
    def hardware_compatibility_level(self, level: HardwareCompatibilityLevel) -> None:
        self._level = HardwareCompatibilityLevel(level)

    @property
    def progress_monitor(self) -> IProgressMonitor | None: return self._monitor

    @progress_monitor.setter
    def progress_monitor(self, monitor: IProgressMonitor | None) -> None:
        if monitor is not None and not isinstance(monitor, IProgressMonitor):
            raise TypeError(f'a progress monitor derives from trt.IProgressMonitor, got {type(monitor).__name__}')
        self._monitor = monitor

    @property
    def algorithm_selector(self) -> IAlgorithmSelector | None: return self._selector

    @algorithm_selector.setter
    def algorithm_selector(self, selector: IAlgorithmSelector | None) -> None:
        if selector is not None and not isinstance(selector, IAlgorithmSelector):
            raise TypeError(f'an algorithm selector derives from trt.IAlgorithmSelector, got {type(selector).__name__}')
        self._selector = selector

    def _selection(self) -> Selection | None:
        """Of one build."""
        return Selection(self._selector, self.get_flag(BuilderFlag.REJECT_EMPTY_ALGORITHMS)) if self._selector else None

    def _tries(self, sources: int) -> bool:
        """A library."""
        without = self.get_preview_feature(PreviewFeature.DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805)
        return not without and (not self._sources_set or bool(self._sources & sources))

    def _native(self) -> dict[str, Any]:
        """Fields of BuildConfig."""
        options: dict[str, Any] = {field: flag in self._flags for flag, field in FIELDS.items()}
        options.update(self._numbers, refittable=any(flag in self._flags for flag in REFITTABLE),
                       hardware_compatible=self._level.name != 'NONE', timings=self._cache and self._cache._native)
        for pool, size in self._pools.items():
            if pool.name == 'WORKSPACE':
                options['workspace_bytes'] = size
        libraries = [name for name, bits in (('cublas_lt', 0b011), ('cudnn', 0b100)) if self._tries(bits)]
        options['tactic_sources'] = ['reference', 'native', *libraries]
        return options
