// A piece of random numbers made once for each type, copied and doubled until it fills what is asked for.
#include "tune/timing/timing_data.h"

#include <algorithm>

#include "base/types/element.h"

namespace tenfold::tune {
namespace {

constexpr std::int64_t kElements = 1 << 17;

}  // namespace

const Tensor& RandomNumbers::some(DType dtype) {
  const auto [it, fresh] = some_.try_emplace(dtype, dtype, Shape{kElements});
  if (!fresh) return it->second;
  std::uint64_t state = 0x9e3779b97f4a7c15ull;
  const double max = is_float(dtype) ? 1 : bits(dtype) == 8 ? 100 : 1000;   // products of thousands stay finite in f16
  for (std::int64_t i = 0; i < kElements; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const double unit = static_cast<double>(state >> 11) * 0x1p-53;
    store_double(dtype, it->second.mutable_raw(), i, max * (2 * unit - 1));
  }
  return it->second;
}

bool RandomNumbers::fill(void* memory, DType dtype, std::int64_t bytes) {
  if ((!is_float(dtype) && bits(dtype) != 8) || dtype == DType::boolean) return false;
  const Tensor& piece = some(dtype);
  std::int64_t done = std::min(bytes, piece.bytes());
  stream_.copy(memory, piece.raw(), done);
  for (auto* at = static_cast<char*>(memory); done < bytes;) {
    const std::int64_t more = std::min(done, bytes - done);
    stream_.copy(at + done, memory, more);
    done += more;
  }
  return true;
}

}  // namespace tenfold::tune
