"""What each BuilderFlag means here: a field of BuildConfig, something that cannot have an effect, or something that would be believed."""
from __future__ import annotations

from tenfold.tensorrt._enums import BuilderFlag

F = BuilderFlag

# Flags that are switches of BuildConfig. FP16 and BF16 permit; INT8 and FP8 concern models that are quantized (_build/builder.py says so).
FIELDS = {F.FP16: 'fp16', F.BF16: 'bf16', F.TF32: 'tf32', F.VERSION_COMPATIBLE: 'version_compatible',
          F.ERROR_ON_TIMING_CACHE_MISS: 'error_on_cache_miss'}
REFITTABLE = (F.REFIT, F.REFIT_IDENTICAL)
QUANTIZED = (F.INT8, F.FP8)
CONSTRAINING = (F.OBEY_PRECISION_CONSTRAINTS, F.PREFER_PRECISION_CONSTRAINTS)   # what precisions of layers are: _layer_precisions.py
SELECTING = (F.REJECT_EMPTY_ALGORITHMS,)   # beside an algorithm selector

# These permit or ask for what does not arise here; that is said once.
NO_EFFECT = {
    F.DEBUG: 'there is no synchronization after each layer',
    F.GPU_FALLBACK: 'there is no DLA to fall back from',
    F.DISABLE_TIMING_CACHE: 'times are shared only by builds that were given a timing cache',
    F.SPARSE_WEIGHTS: 'no kernel uses sparsity',
    F.DIRECT_IO: 'inputs and outputs are linear always',
    F.EXCLUDE_LEAN_RUNTIME: 'plans hold no runtime',
    F.DISABLE_COMPILATION_CACHE: 'compiled kernels are shared within one build alone: an ITimingCache holds times, no code',
    F.INT4: 'types are those of the model and of its plug-ins, with the flag or without',
    F.FP4: 'types are those of the model and of its plug-ins, with the flag or without',
    F.MONITOR_MEMORY: 'VERBOSE tells the memory of each build',
    F.SAFETY_SCOPE: 'there are no restrictions for a safety runtime',
    F.WEIGHT_STREAMING: 'weights of an engine lie on its device, all of them',
    F.EDITABLE_TIMING_CACHE: 'entries of a timing cache cannot be set one by one: an algorithm selector chooses tactics',
    F.ENABLE_TACTIC_HEURISTIC: 'builder_optimization_level says how long the build searches',
}

# These promise something of the engine that would not be kept.
REFUSED = {
    F.STRIP_PLAN: 'plans keep their weights',
    F.REFIT_INDIVIDUAL: 'single weights cannot be marked; REFIT makes all refittable that can be',
    F.STRICT_NANS: 'no pass was held to it',
    F.DISTRIBUTIVE_INDEPENDENCE: 'kernels are chosen by shape',
}
