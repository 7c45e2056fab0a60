// The blocked int8 product: a block of rows is expanded once per chunk of k, multiplied with every panel of weights of its block of
// columns, and finished while its accumulators are hot.
#include "backends/cpu/tactics/int8_common.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
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

}  // namespace

const Int8Kernels& int8_kernels(std::int64_t isa) {
  switch (isa) {
    case kInt8Avx512: return tenfold_int8_avx512;
    case kInt8Vnni: return tenfold_int8_vnni;
    case kInt8Amx: return tenfold_int8_amx;
    default: return tenfold_int8_avx2;
  }
}

const Int8FinishKernels& int8_finish_kernels(std::int64_t isa) {
  return isa == kInt8Avx2 ? tenfold_int8_finish_avx2 : tenfold_int8_finish_avx512;
}

std::vector<Config> int8_configs(const DeviceInfo& device, std::int64_t rows, std::int64_t n) {
  std::vector<Config> configs;
  int best = -1;
  for (int isa = 0; isa < kInt8IsaCount; ++isa) {
    if ((device.features & kNeeds[isa]) == kNeeds[isa]) best = isa;
  }
  const auto offer = [&](std::int64_t isa, std::int64_t most_rows, std::int64_t most_columns) {
    const Int8Kernels& kernels = int8_kernels(isa);
    const std::int64_t columns = std::min(balanced(n, most_columns, kernels.nr), kInt8MaxColumns);
    const Config config{isa, balanced(rows, std::min(most_rows, kInt8MaxRows), kernels.mr), columns};
    if (std::find(configs.begin(), configs.end(), config) == configs.end()) configs.push_back(config);
  };
  if (best < 0) return configs;
  offer(best, 48, 64);
  offer(best, 48, 128);
  offer(best, 24, 128);
  offer(best, 64, 64);
  if (best == kInt8Amx) offer(kInt8Vnni, 48, 64);  // a few rows do not fill a tile
  return configs;
}

Verdict int8_valid(const DeviceInfo& device, const Config& config) {
  if (config.size() != 3) return Verdict::no(cat("the config has ", config.size(), " numbers, expected 3"));
  if (config[0] < 0 || config[0] >= kInt8IsaCount) return Verdict::no("the config names an unknown instruction set");
  const std::uint32_t needs = kNeeds[config[0]];
  if ((device.features & needs) != needs) return Verdict::no(cat("needs ", feature_text(needs)));
  if (config[1] < 1 || config[1] > kInt8MaxRows) return Verdict::no("the block has too many rows");
  const std::int64_t nr = int8_kernels(config[0]).nr;
  return Verdict::only_if(config[2] >= nr && config[2] % nr == 0 && config[2] <= kInt8MaxColumns,
                          "the block's columns are no whole panels");
}

Int8Packing::Int8Packing(const Int8Weights& weights, const Int8Kernels& kernels)
    : weights_(weights), nr_(kernels.nr), value_bytes_(kernels.b_bytes) {
  columns_ = round_up(weights.n, nr_ / 2);
  depth_ = round_up(weights.k, kernels.k_group * kernels.k_step);
  head_bytes_ = round_up(3 * columns_ * 4, 64);
  group_bytes_ = checked_add(head_bytes_, round_up(checked_mul(checked_mul(columns_, depth_), value_bytes_), 64));
  checked_mul(group_bytes_, weights.groups);
}

std::int64_t Int8Packing::slot(std::int64_t k, std::int64_t column, const Int8Kernels& kernels) const {
  const std::int64_t first = column / nr_ * nr_, width = panel_width(first), group = kernels.k_group, lane = column - first;
  // Half panels side by side where a tile of B is `k_step` groups deep (AMX); else the panel's columns are neighbours.
  if (kernels.k_step > 1) {
    const std::int64_t half = nr_ / 2, deep = group * kernels.k_step;
    return first * depth_ + k / deep * deep * width + lane / half * half * deep + k % deep / group * group * half + lane % half * group +
           k % group;
  }
  return first * depth_ + k / group * group * width + lane * group + k % group;
}

void Int8Packing::pack(const Int8Kernels& kernels, std::span<const std::int16_t> weights, std::span<const std::int32_t> zeros,
                       void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(bytes()));
  const std::int64_t n = weights_.n, k = weights_.k;
  for (std::int64_t g = 0; g < weights_.groups; ++g) {
    auto* head = const_cast<std::int32_t*>(sums(packed, g));
    char* values = const_cast<char*>(body(packed, g));
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int16_t* column = weights.data() + g * k * n + j;
      const std::int32_t zero = zeros[static_cast<std::size_t>(g * n + j)];
      std::int32_t least = 0, most = 0, sum = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        least = std::min(least, column[i * n] - zero);
        most = std::max(most, column[i * n] - zero);
      }
      const bool fits = value_bytes_ == 2 || (least >= -128 && most <= 127);
      std::int32_t moved = zero;
      if (!fits) {  // unsigned values are stored less 128, signed ones as they are
        moved = 0;
        for (std::int64_t i = 0; i < k && moved == 0; ++i) moved = column[i * n] > 127 ? 128 : 0;
        *static_cast<std::int32_t*>(packed) = 1;
      }
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int32_t stored = column[i * n] - moved;
        sum += stored;
        const std::int64_t at = slot(i, j, kernels);
        if (value_bytes_ == 2)
          reinterpret_cast<std::int16_t*>(values)[at] = static_cast<std::int16_t>(stored);
        else
          reinterpret_cast<std::int8_t*>(values)[at] = static_cast<std::int8_t>(stored);
      }
      head[j] = sum;
      head[columns_ + j] = zero - moved;
      head[2 * columns_ + j] = moved;
    }
  }
}

std::vector<std::int16_t> Int8Packing::unpack(const Int8Kernels& kernels, const void* packed) const {
  std::vector<std::int16_t> weights(static_cast<std::size_t>(weights_.groups * weights_.k * weights_.n));
  std::size_t next = 0;
  for (std::int64_t g = 0; g < weights_.groups; ++g) {
    for (std::int64_t i = 0; i < weights_.k; ++i) {
      for (std::int64_t j = 0; j < weights_.n; ++j) {
        const std::int64_t at = slot(i, j, kernels);
        const char* values = body(packed, g);
        const int stored =
            value_bytes_ == 2 ? reinterpret_cast<const std::int16_t*>(values)[at] : reinterpret_cast<const std::int8_t*>(values)[at];
        weights[next++] = static_cast<std::int16_t>(stored + moved(packed, g)[j]);
      }
    }
  }
  return weights;
}

std::int32_t int8_zero_point(const RunArgs& args, int input, DType dtype) noexcept {
  if (static_cast<std::size_t>(input) >= args.in.size()) return 0;
  const void* data = args.in[static_cast<std::size_t>(input)].data;
  if (data == nullptr) return 0;
  return dtype == DType::i8 ? *static_cast<const std::int8_t*>(data) : *static_cast<const std::uint8_t*>(data);
}

}  // namespace tenfold::backends::cpu
