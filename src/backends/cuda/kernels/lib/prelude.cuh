// What every kernel may use.
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"
#include "backends/cuda/kernels/lib/launch.cuh"
#include "backends/cuda/kernels/lib/convert.cuh"
#include "backends/cuda/kernels/lib/bytes.cuh"
#include "backends/cuda/kernels/lib/vectors.cuh"
#include "backends/cuda/kernels/lib/arithmetic.cuh"
#include "backends/cuda/kernels/lib/reduce.cuh"
#include "backends/cuda/kernels/lib/gelu.cuh"
