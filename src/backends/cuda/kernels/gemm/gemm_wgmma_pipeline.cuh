// What the two GEMMs for wgmma share: stages of a and b in shared memory, slots of results behind them, the barriers of both, and what the
// producer and the consumers do at a stage.
//
// Shape tells a kernel's sizes: `stages`; `steps` of a tile along k; `rows`, `columns` and `row_bytes` of a stage; `consumers`, which are
// warpgroups; `slots` of each, and `slot_bytes`.
//
// Places in the rings of stages and slots are given by value, and the loads are the kernels' own statements: references to them, or
// functions that are given the loads, leave the compiler other instructions.
#pragma once
#include "backends/cuda/kernels/lib/mbarrier.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"
#include "backends/cuda/kernels/lib/tma.cuh"
#include "backends/cuda/kernels/lib/wgmma.cuh"
#include "backends/cuda/kernels/gemm/gemm_wgmma_args.h"

template <class Shape> struct WgmmaPipeline {
  enum : int {
    kABytes = Shape::rows * Shape::row_bytes, kStageBytes = kABytes + Shape::columns * Shape::row_bytes,
    kSlotsAt = Shape::stages * kStageBytes, kBarriersAt = kSlotsAt + Shape::consumers * Shape::slots * Shape::slot_bytes,
    kEnd = kBarriersAt + 8 * (2 * Shape::stages + 2 * Shape::consumers * Shape::slots),
    // Weights are constant, so those of the first steps come while the kernel before still runs.
    kAhead = Shape::steps < Shape::stages ? Shape::steps : Shape::stages,
    kProducerRegisters = Shape::consumers == 2 ? 40 : 32, kConsumerRegisters = Shape::consumers == 2 ? 232 : 160,   // of a thread
  };
  const u32 base;   // a multiple of 1024

  __device__ __forceinline__ u32 stage_a(int stage) const { return base + stage * kStageBytes; }
  __device__ __forceinline__ u32 stage_b(int stage) const { return base + stage * kStageBytes + kABytes; }
  __device__ __forceinline__ u32 slot_at(int g, int slot) const { return base + kSlotsAt + (g * Shape::slots + slot) * Shape::slot_bytes; }
  __device__ __forceinline__ u32 full(int stage) const { return base + kBarriersAt + 8 * stage; }
  __device__ __forceinline__ u32 empty(int stage) const { return base + kBarriersAt + 8 * (Shape::stages + stage); }
  __device__ __forceinline__ u32 slot_full(int g, int slot) const {
    return base + kBarriersAt + 8 * (2 * Shape::stages + g * Shape::slots + slot);
  }
  __device__ __forceinline__ u32 slot_empty(int g, int slot) const {
    return base + kBarriersAt + 8 * (2 * Shape::stages + Shape::consumers * Shape::slots + g * Shape::slots + slot);
  }

  // Called by one thread, which then calls fence_mbarrier_init(). `arrivals` of consumers empty a stage.
  __device__ __forceinline__ void init(const WgmmaArguments& a, int arrivals) const {
    prefetch_tensormap(a.a), prefetch_tensormap(a.b), prefetch_tensormap(a.y);
    for (int s = 0; s < Shape::stages; ++s) mbarrier_init(full(s), 1), mbarrier_init(empty(s), arrivals);
    for (int g = 0; g < Shape::consumers; ++g)
      for (int s = 0; s < Shape::slots; ++s) mbarrier_init(slot_full(g, s), 1), mbarrier_init(slot_empty(g, s), 1);
  }

  // The producer's: a stage's barrier expects its bytes.
  __device__ __forceinline__ void expect(int stage) const { mbarrier_expect_tx(full(stage), kStageBytes); }
  // The same once the consumers are done with what was there.
  __device__ __forceinline__ void refill(int stage, u32 parity) const {
    mbarrier_wait(empty(stage), parity ^ 1);
    expect(stage);
  }
  __device__ __forceinline__ void refill_slot(int g, int slot, u32 parity) const {
    mbarrier_wait(slot_empty(g, slot), parity ^ 1);
    mbarrier_expect_tx(slot_full(g, slot), Shape::slot_bytes);
  }

  // A consumer's: adds the products of step k, of its rows of a from `first_row` on, and leaves them running.
  template <int kBlocks, class Sum, int kCount>
  __device__ __forceinline__ void multiply(int stage, u32 parity, int first_row, Sum (&c)[kBlocks][kCount], int k) const {
    mbarrier_wait(full(stage), parity);
    const u64 da = smem_descriptor<Shape::row_bytes>(stage_a(stage) + first_row * Shape::row_bytes);
    const u64 db = smem_descriptor<Shape::row_bytes>(stage_b(stage));
    wgmma_fence();
    #pragma unroll
    for (int s = 0; s < Shape::row_bytes / 32; ++s)
      #pragma unroll
      for (int i = 0; i < kBlocks; ++i) wgmma(c[i], da + i * Shape::row_bytes * 4 + s * 2, db + s * 2, s > 0 || k > 0);
    wgmma_commit_group();
  }
};
