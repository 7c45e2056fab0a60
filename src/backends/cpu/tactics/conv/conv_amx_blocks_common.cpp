// What an AMX convolution reads from its problem, and the blocks that are worth timing.
#include "backends/cpu/tactics/conv/conv_amx_blocks_common.h"

#include "backends/cpu/gemm/bf16/gemm_bf16_plan.h"
#include "backends/cpu/gemm/heuristics.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kMaxSplit = 1 << 20;   // bytes of weights that stay in the second cache beside rows

// Terms of a value: f32 that may not be rounded has three. Two would do for one product, but not for what fifty layers amplify.
int terms_of(const Problem& p) { return bf16_terms(p) == 1 ? 1 : 3; }

}  // namespace

Bf16Windows conv_amx_windows(const Problem& p) { return Bf16Windows(ConvShape(p), p.in[0].dtype, terms_of(p)); }

bool conv_amx_is_pointwise(const Problem& p) {
  const ConvShape s(p);
  const ir::Ints pads = p.attributes->ints("pads", {});
  return s.taps() == 1 && s.stride == Three{1, 1, 1} && std::all_of(pads.begin(), pads.end(), [](std::int64_t v) { return v == 0; }) &&
         uniform_positions(p.in[0]);
}

GemmBf16B conv_amx_weights(const Problem& p) {
  const Bf16Windows windows = conv_amx_windows(p);
  return {.taps = windows.taps(), .k = windows.tap_depth(), .n = ConvShape(p).filters, .type = p.in[1].dtype, .terms = terms_of(p)};
}

namespace {

// Of panels that go round inside, split on the way.
std::int64_t split_bytes(const Problem& p, std::int64_t columns) {
  return GemmBf16Plan::split_bytes(conv_amx_weights(p), columns, GemmBf16Plan::Loops::panels_inside);
}

// {positions of a block, columns of a block, whether panels go round inside, 1, 0}
std::vector<Config> point_configs(const Problem& p) {
  const std::int64_t rows = std::max<std::int64_t>(conv_likely_rows(p), 1), filters = ConvShape(p).filters;
  std::vector<Config> all;
  for (const std::int64_t max : {256, 128, 512, 64})
    for (const std::int64_t pieces : {1, 2, 8, 16})
      for (const std::int64_t inside : {1, 0}) {
        if (pieces > 8 && (rows > max || !many_threads())) continue;
        const std::int64_t block = ceil_div(rows, ceil_div(rows, max)), columns = round_up(ceil_div(filters, pieces), 32);
        if (pieces > 1 && (columns >= filters || rows > 4096)) continue;
        if (columns <= 32 && inside == 0) continue;
        if (inside && split_bytes(p, columns) > kMaxSplit) continue;
        const Config c{round_up(block, GemmBf16Plan::kMr), columns, inside, 1, 0};
        if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
      }
  return all;
}

// Planes of results one after the other, all columns at once: what comes first suits few threads.
void add_rolling(const Problem& p, const Bf16Windows& windows, std::int64_t lines, std::int64_t planes, std::int64_t width,
                 std::vector<Config>& all) {
  constexpr std::int64_t kMaxBytes = 5 << 18;
  const std::int64_t columns = round_up(ConvShape(p).filters, 32);
  std::int64_t pieces = 1;
  while (pieces < lines && windows.bytes<std::int64_t>(1, ceil_div(lines, pieces), width) > kMaxBytes) pieces *= 2;
  if (planes < 16 || !windows.fits(1, ceil_div(lines, pieces))) return;
  const bool inside = columns <= 32 || split_bytes(p, columns) <= kMaxSplit;
  all.push_back({ceil_div(lines, pieces), columns, inside, ceil_div(planes, 2), 1});
  if (lines >= 16) all.push_back({ceil_div(lines, 2 * pieces), columns, inside, ceil_div(planes, 2), 1});
  if (columns > 32 && inside) all.push_back({ceil_div(lines, pieces), columns, 0, ceil_div(planes, 2), 1});
  all.push_back({ceil_div(lines, 2 * pieces), columns, inside, ceil_div(planes, 8), 1});
}

// {lines of a block, columns of a block, whether panels go round inside, planes of a block, whether those roll}: copies stay in the second
// cache.
std::vector<Config> window_configs(const Problem& p) {
  constexpr std::int64_t kMaxBytes = 1 << 20, kMaxRows = 2048;
  const ConvShape s(p);
  const Bf16Windows windows = conv_amx_windows(p);
  const ir::Dims& y = p.out[0].dims;
  const std::size_t rank = y.size();
  const std::int64_t width = likely(p, y[rank - 1], 56), lines = rank < 4 ? 1 : std::max<std::int64_t>(likely(p, y[rank - 2], 56), 1);
  const std::int64_t planes =
      std::max<std::int64_t>((rank < 5 ? 1 : likely(p, y[rank - 3], 16)) * (windows.flat() ? likely(p, y[0], 1) : 1), 1);
  std::vector<Config> all;
  if (windows.rolls()) add_rolling(p, windows, lines, rank < 5 ? 1 : likely(p, y[rank - 3], 16), width, all);
  for (const std::int64_t max_planes : {1, 4, 8})
    for (const std::int64_t max : {8, 14, 32, 4, 2}) {
      const std::int64_t deep = std::min(max_planes, planes), block = ceil_div(lines, ceil_div(lines, max));
      const std::int64_t rows = deep * block * width;
      if (!windows.fits(deep, block)) continue;
      if (!all.empty() && (windows.bytes<std::int64_t>(deep, block, width) > kMaxBytes || (deep > 1 && rows > kMaxRows))) continue;
      for (const std::int64_t pieces : {1, 2, 4, 8, 16})
        for (const std::int64_t inside : {1, 0}) {
          if (pieces == 4 && !many_threads()) continue;
          if (pieces > 8 && (rows < lines * planes * width || !many_threads())) continue;
          const std::int64_t columns = round_up(ceil_div(s.filters, pieces), 32);
          if (inside && columns > 32 && split_bytes(p, columns) > kMaxSplit) continue;
          if ((pieces > 1 && (columns >= s.filters || rows < lines * planes * width / 4)) || (columns <= 32 && inside == 0)) continue;
          const Config c{block, columns, inside, deep, 0};
          if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
        }
    }
  if (all.empty()) all.push_back({1, round_up(s.filters, 32), 1, 1, 0});
  return all;
}

}  // namespace

std::vector<Config> conv_amx_configs(const Problem& p) { return conv_amx_is_pointwise(p) ? point_configs(p) : window_configs(p); }

Verdict conv_amx_valid(const Problem& p, const Config& c) {
  if (c.size() != 5) return Verdict::no("its configuration has another length");
  if (!conv_amx_is_pointwise(p) &&
      (c[0] <= 0 || c[3] <= 0 || c[0] > 1 << 16 || c[3] > 1 << 10 || !conv_amx_windows(p).fits(c[4] == 1 ? 1 : c[3], c[0])))
    return Verdict::no("its block is larger than what may be copied");
  if (conv_amx_is_pointwise(p) && c[0] % GemmBf16Plan::kMr != 0) return Verdict::no("its block is no whole number of tiles");
  if (c[4] != 0 && (c[4] != 1 || conv_amx_is_pointwise(p) || !conv_amx_windows(p).rolls() || c[1] < conv_amx_weights(p).panels() * 32))
    return Verdict::no(
        "a rolling input buffer needs a kernel depth above 1 with stride and dilation 1 along it, and all filters in one block");
  return Verdict::only_if(c[0] > 0 && c[0] <= 1 << 16 && c[1] > 0 && c[1] % 32 == 0 && c[1] < 1 << 30 && c[2] >= 0 && c[2] <= 1 &&
                              c[3] > 0 && c[3] <= 1 << 10,
                          "its block sizes are out of range");
}

}  // namespace tenfold::backends::cpu
