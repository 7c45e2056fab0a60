"""Whether this processor can run Tenfold: kernels and libraries are compiled for AVX2 and what came with it."""

_NEEDED = ('avx2', 'fma', 'f16c', 'bmi2')


def missing_features(cpuinfo: str) -> list[str]:
    """What /proc/cpuinfo does not list; nothing if it lists no features at all."""
    flags = next((line.split(':', 1)[1].split() for line in cpuinfo.splitlines() if line.startswith('flags')), None)
    return [] if flags is None else [f for f in _NEEDED if f not in flags]


def check_cpu() -> None:
    try:
        with open('/proc/cpuinfo') as file:
            text = file.read(16384)
    except OSError:
        return
    if missing := missing_features(text):
        raise ImportError(f'tenfold needs a processor with AVX2; this one lacks {", ".join(missing)}')
