// What rankings of configurations ask of a GPU. Their constants were fitted on an H200: with other figures they are scaled.
#pragma once

namespace tenfold::backends::cuda {

// At first those of an H200, which stand for GPUs that kernels are only compiled for.
struct GpuFigures {
  int multiprocessors = 132;
  int shared_bytes = 228 << 10;   // of a multiprocessor
  int clock_khz = 1'980'000;      // the highest of multiprocessors
  int mma_macs = 1024;            // products of f16 that a multiprocessor adds in a cycle by mma.sync

  double clock() const { return clock_khz / 1'980'000.0; }                // an H200's: 1
  double shared() const { return shared_bytes / (228.0 * 1024); }
  double mma_rate() const { return clock() * mma_macs / 1024.0; }
};

// No driver tells this: NVIDIA's white papers do, and on sm_90 and later, whose tensor cores have more by wgmma and tcgen05, what mma.sync
// came to on an H200 stands for 1024.
constexpr int mma_macs_of(int arch) { return arch == 75 || arch == 86 || arch == 89 || arch >= 120 ? 512 : 1024; }

}  // namespace tenfold::backends::cuda
