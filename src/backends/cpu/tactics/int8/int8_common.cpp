// Which kernels and block sizes an int8 product may use.
#include "backends/cpu/tactics/int8/int8_common.h"

#include <algorithm>

#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::uint32_t kNeeds[kInt8IsaCount] = {kAvx2, kAvx512, kAvx512 | kVnni, kAvx512 | kVnni | kAmxInt8};

// Blocks of rows as equal as register tiles allow, none above `limit`.
std::int64_t balanced(std::int64_t rows, std::int64_t limit, std::int64_t tile) {
  limit = std::max(limit / tile, std::int64_t{1}) * tile;
  const std::int64_t blocks = ceil_div(std::max(rows, std::int64_t{1}), limit);
  return std::min(ceil_div(ceil_div(rows, blocks), tile) * tile, limit);
}

std::int64_t max_rows_of(const Int8Kernels& kernels) { return kernels.laid ? kInt8MaxLaidRows : kInt8MaxRows; }

}  // namespace

const Int8Kernels& int8_kernels(std::int64_t isa) {
  switch (isa) {
    case kInt8Avx512: return tenfold_int8_avx512;
    case kInt8Vnni: return tenfold_int8_vnni;
    case kInt8Amx: return tenfold_int8_amx;
    default: return tenfold_int8_avx2;
  }
}

const Int8EpilogueKernels& int8_epilogue_kernels(std::int64_t isa) {
  return isa == kInt8Avx2 ? tenfold_int8_epilogue_avx2 : tenfold_int8_epilogue_avx512;
}

std::vector<Config> int8_configs(const DeviceInfo& device, std::int64_t rows, std::int64_t n) {
  std::vector<Config> configs;
  int best = -1;
  for (int isa = 0; isa < kInt8IsaCount; ++isa) {
    if ((device.features & kNeeds[isa]) == kNeeds[isa]) best = isa;
  }
  const auto offer = [&](std::int64_t isa, std::int64_t max_rows, std::int64_t max_columns) {
    const Int8Kernels& kernels = int8_kernels(isa);
    const std::int64_t columns = std::min(balanced(n, max_columns, kernels.nr), kInt8MaxColumns);
    const Config config{isa, balanced(rows, std::min(max_rows, max_rows_of(kernels)), kernels.row_step), columns};
    if (std::find(configs.begin(), configs.end(), config) == configs.end()) configs.push_back(config);
  };
  if (best < 0) return configs;
  if (best == kInt8Amx) {   // a few rows do not fill a tile
    offer(best, 128, 64);
    offer(best, 64, 128);
    offer(best, 256, 32);
    offer(best, 32, 128);
    offer(kInt8Vnni, 48, 64);
    return configs;
  }
  offer(best, 48, 64);
  offer(best, 48, 128);
  offer(best, 26, 128);
  offer(best, 64, 64);
  return configs;
}

Verdict int8_valid(const DeviceInfo& device, const Config& config) {
  if (config.size() != 3) return Verdict::no(cat("the config has ", config.size(), " numbers, expected 3"));
  if (config[0] < 0 || config[0] >= kInt8IsaCount) return Verdict::no("the config names an unknown instruction set");
  const std::uint32_t needs = kNeeds[config[0]];
  if ((device.features & needs) != needs) return Verdict::no(cat("needs ", feature_text(needs)));
  const Int8Kernels& kernels = int8_kernels(config[0]);
  if (config[1] < 1 || config[1] > max_rows_of(kernels)) return Verdict::no("the block has too many rows");
  if (config[2] < kernels.nr || config[2] % kernels.nr != 0 || config[2] > kInt8MaxColumns)
    return Verdict::no("the block's columns are no whole panels");
  return Verdict::only_if(round_up_to(config[1], kernels.whole_rows) * config[2] <= kInt8MaxCells, "the block has too many results");
}

std::int32_t int8_zero_point(const RunArgs& args, int input, DType dtype) noexcept {
  if (static_cast<std::size_t>(input) >= args.in.size()) return 0;
  const void* data = args.in[static_cast<std::size_t>(input)].data;
  if (data == nullptr) return 0;
  return dtype == DType::i8 ? *static_cast<const std::int8_t*>(data) : *static_cast<const std::uint8_t*>(data);
}

}  // namespace tenfold::backends::cpu
