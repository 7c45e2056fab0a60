// The roof of this machine's CPU, measured: multiply-adds in registers on all threads, and copies and reads of arrays as large as half of
// each cache.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "report/roof.h"
#include "tenfold/device.h"

namespace tenfold::cli {
namespace {

using Clock = std::chrono::steady_clock;
// The best of many short windows counts: other programs only make them slower.
constexpr int kWindows = 30;
constexpr std::chrono::microseconds kWindow{2000};
std::atomic<int> sink{0};

// Work per second of all threads together. `body` does one portion on its thread, far shorter than a window, and returns how much that was.
// `shared`: threads compete for it (memory), so that one window counts for all; else each thread's best does.
double rate(int threads, bool shared, const std::function<double(int)>& body) {
  std::vector<std::vector<double>> done(static_cast<std::size_t>(threads), std::vector<double>(kWindows));
  std::vector<std::thread> all;
  const Clock::time_point start = Clock::now() + std::chrono::milliseconds(2);
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      while (Clock::now() < start) body(t);  // warm
      for (;;) {
        const double work = body(t);
        const auto window = (Clock::now() - start) / kWindow;
        if (window >= kWindows) return;
        done[static_cast<std::size_t>(t)][static_cast<std::size_t>(window)] += work;
      }
    });
  for (std::thread& t : all) t.join();
  double best = 0;
  for (std::size_t window = 0; window < kWindows; ++window) {
    double sum = 0;
    for (const std::vector<double>& mine : done) sum += shared ? mine[window] : 0;
    best = std::max(best, sum);
  }
  for (const std::vector<double>& mine : done) best += shared ? 0 : *std::max_element(mine.begin(), mine.end());
  return best / std::chrono::duration<double>(kWindow).count();
}

#if defined(__x86_64__)
constexpr int kChains = 12, kRounds = 20000;  // chains that do not wait for each other: latency 4 or 5 on two units

__attribute__((target("avx512f"))) double fma_avx512(int) {
  __m512 sums[kChains], a = _mm512_set1_ps(0.999f);
  for (__m512& s : sums) {
    s = _mm512_set1_ps(1e-3f);
    asm volatile("" : "+v"(s));  // chains that are known to be equal would become one
  }
  for (int r = 0; r < kRounds; ++r)
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_fmadd_ps(sums[c], a, a);
  for (__m512& s : sums) asm volatile("" : "+v"(s));  // and what nobody reads would not be computed
  return 2.0 * 16 * kChains * kRounds;
}

__attribute__((target("avx2,fma"))) double fma_avx2(int) {
  __m256 sums[kChains], a = _mm256_set1_ps(0.999f);
  for (__m256& s : sums) {
    s = _mm256_set1_ps(1e-3f);
    asm volatile("" : "+v"(s));
  }
  for (int r = 0; r < kRounds; ++r)
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm256_fmadd_ps(sums[c], a, a);
  for (__m256& s : sums) asm volatile("" : "+v"(s));
  return 2.0 * 8 * kChains * kRounds;
}

__attribute__((target("avx512f,avx512vnni"))) double dot_vnni(int) {
  __m512i sums[kChains], a = _mm512_set1_epi8(1);
  for (__m512i& s : sums) {
    s = _mm512_setzero_si512();
    asm volatile("" : "+v"(s));
  }
  for (int r = 0; r < kRounds; ++r)
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_dpbusd_epi32(sums[c], a, a);
  for (__m512i& s : sums) asm volatile("" : "+v"(s));
  return 2.0 * 64 * kChains * kRounds;
}

__attribute__((target("avx512f,avx512bf16"))) double dot_bf16(int) {
  __m512 sums[kChains];
  const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1e-3f), _mm512_set1_ps(1e-3f));
  for (__m512& s : sums) {
    s = _mm512_setzero_ps();
    asm volatile("" : "+v"(s));
  }
  for (int r = 0; r < kRounds; ++r)
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_dpbf16_ps(sums[c], a, a);
  for (__m512& s : sums) asm volatile("" : "+v"(s));
  return 2.0 * 32 * kChains * kRounds;
}

__attribute__((target("avx2"))) double read_array(const char* from, std::size_t bytes) {
  __m256i x0 = _mm256_setzero_si256(), x1 = x0, x2 = x0, x3 = x0;
  for (std::size_t i = 0; i + 128 <= bytes; i += 128) {
    const __m256i* at = reinterpret_cast<const __m256i*>(from + i);
    x0 = _mm256_xor_si256(x0, _mm256_loadu_si256(at)), x1 = _mm256_xor_si256(x1, _mm256_loadu_si256(at + 1));
    x2 = _mm256_xor_si256(x2, _mm256_loadu_si256(at + 2)), x3 = _mm256_xor_si256(x3, _mm256_loadu_si256(at + 3));
  }
  sink = _mm256_extract_epi32(_mm256_xor_si256(_mm256_xor_si256(x0, x1), _mm256_xor_si256(x2, x3)), 0);
  return static_cast<double>(bytes);
}
#endif

bool has(const std::string& features, std::string_view word) {
  return (" " + features + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

// Reads alone, or copies, whichever moves more.
double bandwidth(int threads, std::int64_t bytes) {
  const std::size_t each = std::max<std::size_t>(static_cast<std::size_t>(bytes) / static_cast<std::size_t>(threads), 4096) / 4096 * 4096;
  std::vector<std::unique_ptr<char[]>> arrays;
  for (int t = 0; t < threads; ++t) {
    arrays.push_back(std::make_unique_for_overwrite<char[]>(each));
    std::memset(arrays.back().get(), t + 1, each);
  }
  std::vector<std::size_t> cursors(static_cast<std::size_t>(threads) * 16);  // 16: of each thread on a line of its own
  const std::size_t piece = std::min<std::size_t>(each, 256 << 10);
  const auto next = [&](int t) {
    std::size_t& cursor = cursors[static_cast<std::size_t>(t) * 16];
    char* at = arrays[static_cast<std::size_t>(t)].get() + cursor;
    cursor = cursor + 2 * piece > each ? 0 : cursor + piece;
    return at;
  };
  double best = rate(threads, true, [&](int t) {
    char* at = next(t);
    std::memcpy(at + piece / 2, at, piece / 2);
    sink = at[piece - 1];
    return static_cast<double>(piece);
  });
#if defined(__x86_64__)
  best = std::max(best, rate(threads, true, [&](int t) { return read_array(next(t), piece); }));
#endif
  return best / 1e9;
}

}  // namespace

Roof measure_cpu_roof(int threads) {
  Roof roof;
  roof.source = "measured now on " + std::to_string(threads) +
                " threads: multiply-adds in vector registers, and reads and copies of data that fits in half of each cache. Kernels that "
                "save multiplications (Winograd, Strassen), and those that use AMX tiles, may be above it";
  DeviceDescription cpu;
  for (const DeviceDescription& d : devices())
    if (d.device == "cpu") cpu = d;
#if defined(__x86_64__)
  if (has(cpu.features, "avx512"))
    roof.gflops["f32"] = rate(threads, false, fma_avx512) / 1e9;
  else if (has(cpu.features, "avx2"))
    roof.gflops["f32"] = rate(threads, false, fma_avx2) / 1e9;
  // Tiles are several times as fast, and are not measured: no roof is better than a wrong one.
  if (has(cpu.features, "vnni") && !has(cpu.features, "amxint8")) roof.gflops["i8"] = rate(threads, false, dot_vnni) / 1e9;
  if (has(cpu.features, "avx512bf16") && !has(cpu.features, "amxbf16")) roof.gflops["bf16"] = rate(threads, false, dot_bf16) / 1e9;
#endif
  const std::int64_t l2 = cpu.l2_bytes * std::max(1, std::min(threads, cpu.cores)), l3 = cpu.l3_bytes;
  if (l2 > 0) roof.memory.push_back({"L2", l2, bandwidth(threads, l2 / 2)});
  if (l3 > 2 * l2) roof.memory.push_back({"L3", l3, bandwidth(threads, l3 / 2)});
  roof.memory.push_back({"memory", -1, bandwidth(threads, std::clamp<std::int64_t>(4 * l3, 64 << 20, 512 << 20))});
  return roof;
}

}  // namespace tenfold::cli
