// Printing pooling kernels of several results a thread.
#include "backends/cuda/codegen/pool/pool_strips.h"

#include <algorithm>
#include <map>
#include <vector>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kBlocks = 2;   // that a multiprocessor is to have room for

int bytes_of(const PoolStripsProblem& p) { return bits(p.pool.dtype) / 8; }
int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// A word of what lies outside.
const char* min_word(const PoolProblem& w) {
  if (!w.is_max || w.dtype == DType::u8) return "0u";
  if (w.dtype == DType::i8) return "0x80808080u";
  return w.dtype == DType::f32 ? "0xff800000u" : w.dtype == DType::f16 ? "0xfc00fc00u" : "0xff80ff80u";
}

struct Reads {
  std::vector<int> from, wide, word, at;
  int words = 0;
};
Reads reads_of(const PoolStripsProblem& p) {
  Reads all;
  const int width = p.pool.width, per_word = std::max(1, 4 / bytes_of(p)), taps = static_cast<int>(p.pool.kernel[2]);
  const auto add = [&](int from, int wide) {
    all.from.push_back(from), all.wide.push_back(wide), all.word.push_back(all.words);
    all.words += (wide + per_word - 1) / per_word;
  };
  const auto column = [&](int v, int k) {
    return v * static_cast<int>(p.pool.stride[2]) + k * static_cast<int>(p.pool.dilation[2]) - static_cast<int>(p.pool.begin[2]);
  };
  if (p.channels_last) {
    for (int k = 0; k < taps; ++k) add(k * static_cast<int>(p.pool.dilation[2]), width);
    for (int v = 0; v < width; ++v)
      for (int k = 0; k < taps; ++k) all.at.push_back(k * width + v);
    return all;
  }
  std::map<int, std::pair<int, int>> pieces;   // first and last column of each that a tap reads
  for (int v = 0; v < width; ++v)
    for (int k = 0; k < taps; ++k) {
      const int c = column(v, k);
      const auto [it, is_new] = pieces.try_emplace(floor_div(c, p.piece), c, c);
      it->second = {std::min(it->second.first, c), std::max(it->second.second, c)};
    }
  for (const auto& [number, ends] : pieces) {   // of a piece at an edge, say, half of it may do
    int wide = p.piece;
    while (wide > 1 && wide / 2 * bytes_of(p) >= 4 && floor_div(ends.first, wide / 2) == floor_div(ends.second, wide / 2)) wide /= 2;
    add(floor_div(ends.first, wide) * wide, wide);
  }
  for (int v = 0; v < width; ++v)
    for (int k = 0; k < taps; ++k) {
      std::size_t l = 0;
      while (column(v, k) >= all.from[l] + all.wide[l]) ++l;
      all.at.push_back(all.word[l] * per_word + column(v, k) - all.from[l]);
    }
  return all;
}

}  // namespace

int pool_strips_reads(const PoolStripsProblem& p) {
  int rows = 0;
  const PoolProblem& w = p.pool;
  for (std::int64_t y = 0; y < (p.rows - 1) * w.stride[1] + (w.kernel[1] - 1) * w.dilation[1] + 1; ++y) {
    bool needed = false;
    for (int r = 0; r < p.rows; ++r) {
      const std::int64_t at = y - r * w.stride[1];
      needed = needed || (at >= 0 && at % w.dilation[1] == 0 && at / w.dilation[1] < w.kernel[1]);
    }
    rows += needed;
  }
  return rows * static_cast<int>(w.kernel[0] * static_cast<std::int64_t>(reads_of(p).from.size()));
}

std::string generate_pool_strips(const PoolStripsProblem& p) {
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  const auto list = [&](const std::string& name, const std::vector<int>& values) {
    std::string all;
    for (int v : values) all += cat(all.empty() ? "" : ", ", v);
    define(name, all);
  };
  const PoolProblem& w = p.pool;
  const Reads reads = reads_of(p);
  define("T", storage_type(w.dtype)), define("V", w.width), define("ROWS", p.rows), define("LAST", p.channels_last ? 1 : 0);
  define("THREADS", kPoolStripsThreads), define("BLOCKS", kBlocks);
  const int at_once = p.channels_last ? w.width : p.stored;
  define("STORED", at_once), define("PIECE", at_once * bytes_of(p) < 4 ? "u16" : "u32");
  for (std::size_t d = 0; d < 3; ++d) {
    define(cat("K", d), w.kernel[d]), define(cat("S", d), w.stride[d]), define(cat("D", d), w.dilation[d]);
    define(cat("B", d), w.begin[d]), define(cat("E", d), w.end[d]);
    define(cat("OUT", d), w.out[d] > 0 ? cat(w.out[d]) : cat("a.out[", d, "]"));
  }
  define("INDEX", w.few ? "u32" : "i64"), define("CHANNELS", w.channels > 0 ? cat(w.channels) : "a.channels");
  define("IS_MAX", w.is_max ? 1 : 0), define("COUNT_PADS", w.count_pads ? 1 : 0);
  define("READS", reads.from.size()), define("WORDS", reads.words);
  list("FROM", reads.from), list("WIDE", reads.wide), list("WORD", reads.word), list("AT", reads.at);
  define("LOAD(e)", loaded(w.dtype, "(e)")), define("STORE(f)", stored(w.dtype, "(f)"));
  define("FILL", min_word(w));
  define("BYTES", bits(w.dtype) == 8 ? 1 : 0);
  define("MAX_BYTES", w.dtype == DType::i8 ? "\"vmax4.s32.s32.s32\"" : "\"vmax4.u32.u32.u32\"");
  define("PAIRS", bits(w.dtype) == 16 ? 1 : 0), define("MAX_PAIR", w.dtype == DType::bf16 ? "\"max.NaN.bf16x2\"" : "\"max.NaN.f16x2\"");
  return text.of("pool/pool_strips.cu");
}

}  // namespace tenfold::backends::cuda
