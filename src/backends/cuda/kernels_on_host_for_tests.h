// CUDA C on the host, for tests of kernels' indices, waits and arithmetic where there is no GPU: a block's threads are fibers, which change
// at barriers and where a warp multiplies fragments. Copies by cp.async happen as late as they may, shared memory begins as NaN.
//
// A test defines ON_HOST and CONFIGURED and the kernel's macros, and includes the .cu file in a namespace of its own.
#pragma once

#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "backends/cuda/kernels/lib/shared.h"
#include "base/types/half.h"

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

namespace tenfold::backends::on_host {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
inline Index threadIdx, blockIdx;

// One block that runs.
class Block {
 public:
  static Block*& now() {
    static Block* block = nullptr;
    return block;
  }
  // False: threads wait for each other for ever, or end before their copies are there. `backwards`: the last thread runs first.
  bool run(Index block, unsigned threads, const std::function<void()>& kernel, bool backwards) {
    now() = this, blockIdx = block, kernel_ = &kernel;
    threads_ = std::vector<Thread>(threads), warps_ = std::vector<Warp>((threads + 31) / 32);
    for (Thread& t : threads_) {
      t.stack.reset(new char[kStack]);
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = t.stack.get(), t.context.uc_stack.ss_size = kStack, t.context.uc_link = &main_;
      makecontext(&t.context, [] { now()->body(); }, 0);
    }
    for (ended_ = 0; ended_ < threads;) {
      const unsigned before = steps_;
      for (unsigned i = 0; i < threads; ++i) resume(backwards ? threads - 1 - i : i);
      if (steps_ == before) return false;
    }
    for (const Thread& t : threads_)
      if (!t.groups.empty() || !t.open.empty()) return false;
    return true;
  }
  void synchronize() { wait(all_, threads_.size()); }
  // c += a * b of m16n8k16, as PTX lays fragments over lanes.
  template <class ToFloat>
  void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1, ToFloat to_float) {
    Warp& w = warps_[threadIdx.x / 32];
    const unsigned lane = threadIdx.x % 32, group = lane / 4, t = lane % 4;
    const auto put = [&](float* to, u32 pair) { to[0] = to_float(static_cast<u16>(pair)), to[1] = to_float(static_cast<u16>(pair >> 16)); };
    for (unsigned i = 0; i < 4; ++i) put(&w.a[group + i % 2 * 8][2 * t + i / 2 * 8], a[i]);
    put(&w.b[group][2 * t], b0), put(&w.b[group][2 * t + 8], b1);
    wait(w.given, 32);
    for (unsigned i = 0; i < 4; ++i) {
      double sum = c[i];
      for (unsigned k = 0; k < 16; ++k) sum += static_cast<double>(w.a[group + i / 2 * 8][k]) * w.b[2 * t + i % 2][k];
      c[i] = static_cast<float>(sum);
    }
    wait(w.taken, 32);
  }
  float shuffle_xor(float x, unsigned by) {
    Warp& w = warps_[threadIdx.x / 32];
    w.values[threadIdx.x % 32] = x;
    wait(w.given, 32);
    x = w.values[threadIdx.x % 32 ^ by];
    wait(w.taken, 32);
    return x;
  }
  void copy(void* to, const void* from, bool there) { threads_[threadIdx.x].open.push_back({to, there ? from : nullptr}); }
  void commit() {
    Thread& t = threads_[threadIdx.x];
    t.groups.push_back(std::move(t.open)), t.open.clear();
  }
  void wait_copies(std::size_t left) {
    Thread& t = threads_[threadIdx.x];
    while (t.groups.size() > left) {
      for (const Copy& c : t.groups.front()) c.from ? std::memcpy(c.to, c.from, 16) : std::memset(c.to, 0, 16);
      t.groups.erase(t.groups.begin());
    }
  }

 private:
  static constexpr std::size_t kStack = 128 << 10;
  struct Copy {
    void* to;
    const void* from;   // null: zeros
  };
  struct Thread {
    ucontext_t context = {};
    std::unique_ptr<char[]> stack;
    bool ended = false;
    std::vector<Copy> open;
    std::vector<std::vector<Copy>> groups;
  };
  struct Barrier {
    std::size_t arrived = 0;
    unsigned passed = 0;
  };
  struct Warp {
    float a[16][16], b[8][16], values[32];
    Barrier given, taken;
  };
  void body() {
    (*kernel_)();
    Thread& t = threads_[threadIdx.x];
    if (!t.groups.empty() && t.open.empty())   // groups without copies need no waiting
      std::erase_if(t.groups, [](const std::vector<Copy>& group) { return group.empty(); });
    t.ended = true, ++ended_, ++steps_;
  }
  void resume(unsigned i) {
    if (threads_[i].ended) return;
    threadIdx.x = current_ = i;
    swapcontext(&main_, &threads_[i].context);
  }
  void wait(Barrier& b, std::size_t count) {
    ++steps_;
    const unsigned mine = b.passed;
    if (++b.arrived == count) {
      b.arrived = 0, ++b.passed;
      return;
    }
    const unsigned i = current_;
    while (b.passed == mine) swapcontext(&threads_[i].context, &main_);
  }

  const std::function<void()>* kernel_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Barrier all_;
  ucontext_t main_ = {};
  unsigned current_ = 0, ended_ = 0, steps_ = 0;
};

inline void enter() {}
inline void __syncthreads() { Block::now()->synchronize(); }
inline void cp_async_16(void* to, const void* from, bool there) { Block::now()->copy(to, from, there); }
inline void cp_async_commit_group() { Block::now()->commit(); }
template <int kLeft> void cp_async_wait_group() { Block::now()->wait_copies(kLeft); }
struct Sum {};
template <class> float over_warp(float x) {
  for (unsigned by = 16; by > 0; by /= 2) x += Block::now()->shuffle_xor(x, by);
  return x;
}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline int min(int a, int b) { return a < b ? a : b; }
inline u32 __float_as_uint(float x) { return std::bit_cast<u32>(x); }
inline float __uint_as_float(u32 x) { return std::bit_cast<float>(x); }
inline u32 __byte_perm(u32 low, u32 high, u32 selector) {
  const std::uint64_t both = low | static_cast<std::uint64_t>(high) << 32;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<u32>(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
inline float from_f16(u16 x) { return half_to_float(x); }
inline float from_bf16(u16 x) { return bf16_to_float(x); }
inline u16 to_f16(float x) { return float_to_half(x); }
inline u16 to_bf16(float x) { return float_to_bf16(x); }

}  // namespace tenfold::backends::on_host
