// TMA: boxes of tensors between global and shared memory.
#pragma once
#include "backends/cuda/kernels/lib/tensor_map.h"
#include "backends/cuda/kernels/lib/types.cuh"

using namespace tenfold::backends::cuda;

__device__ __forceinline__ void prefetch_tensormap(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
}

// The box that begins at the coordinates, innermost first; its bytes count on the mbarrier.
__device__ __forceinline__ void tma_load_2d(u32 to, const TensorMap& map, int c0, int c1, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(&map), "r"(c0), "r"(c1), "r"(barrier) : "memory");
}
// The same at this place of all blocks of a cluster whose bits are set, each of which counts the bytes.
__device__ __forceinline__ void tma_load_2d_to(u32 to, const TensorMap& map, int c0, int c1, u32 barrier, int blocks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%2, %3}], [%4], %5;"
               :: "r"(to), "l"(&map), "r"(c0), "r"(c1), "r"(barrier), "h"((u16)blocks) : "memory");
}
__device__ __forceinline__ void tma_load_3d(u32 to, const TensorMap& map, int c0, int c1, int c2, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               :: "r"(to), "l"(&map), "r"(c0), "r"(c1), "r"(c2), "r"(barrier) : "memory");
}
__device__ __forceinline__ void tma_load_4d(u32 to, const TensorMap& map, int c0, int c1, int c2, int c3, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
               :: "r"(to), "l"(&map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(barrier) : "memory");
}
__device__ __forceinline__ void tma_load_5d(u32 to, const TensorMap& map, int c0, int c1, int c2, int c3, int c4, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
               :: "r"(to), "l"(&map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(barrier) : "memory");
}
// Bytes that lie together.
__device__ __forceinline__ void tma_load_bytes(u32 to, const void* from, int bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

// Windows of images with one, two or three axes: TMA walks over positions itself, from where the first window begins, at a tap's offsets.
__device__ __forceinline__ void tma_load_im2col(u32 to, const TensorMap& map, int channel, int x, int image, u32 barrier, u16 tap_x) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5], {%6};"
               :: "r"(to), "l"(&map), "r"(channel), "r"(x), "r"(image), "r"(barrier), "h"(tap_x) : "memory");
}
__device__ __forceinline__ void tma_load_im2col(u32 to, const TensorMap& map, int channel, int x, int y, int image, u32 barrier, u16 tap_x,
                                                u16 tap_y) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
               :: "r"(to), "l"(&map), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(barrier), "h"(tap_x), "h"(tap_y) : "memory");
}
__device__ __forceinline__ void tma_load_im2col(u32 to, const TensorMap& map, int channel, int x, int y, int z, int image, u32 barrier,
                                                u16 tap_x, u16 tap_y, u16 tap_z) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};"
               :: "r"(to), "l"(&map), "r"(channel), "r"(x), "r"(y), "r"(z), "r"(image), "r"(barrier), "h"(tap_x), "h"(tap_y), "h"(tap_z)
               : "memory");
}

__device__ __forceinline__ void tma_store_2d(u32 from, const TensorMap& map, int c0, int c1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n\tcp.async.bulk.commit_group;"
               :: "l"(&map), "r"(c0), "r"(c1), "r"(from) : "memory");
}
// Until all but so many of the last stores have read what they write.
template <int kLeft> __device__ __forceinline__ void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(kLeft) : "memory");
}
// What threads wrote to shared memory becomes visible to TMA.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
