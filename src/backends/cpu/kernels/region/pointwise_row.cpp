// Reductions of rows in a fixed order, and moves of columns at any stride.
#include <type_traits>

#include "backends/cpu/kernels/region/pointwise.h"
#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

enum class Join { sum, max, min };
template <Join kJoin, class T>
inline T join(T a, T b) {
  if constexpr (kJoin == Join::sum) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  } else if constexpr (kJoin == Join::max) {
    return a != a || a > b ? a : b;
  } else {
    return a != a || a < b ? a : b;
  }
}

// What an empty row gives.
template <Join kJoin, class T>
T identity() {
  if constexpr (kJoin == Join::sum) return T(0);
  constexpr bool kIsMax = kJoin == Join::max;
  if constexpr (std::is_floating_point_v<T>) return kIsMax ? -static_cast<T>(__builtin_inf()) : static_cast<T>(__builtin_inf());
  constexpr T kMin = std::is_signed_v<T> ? static_cast<T>(std::uint64_t{1} << (sizeof(T) * 8 - 1)) : T(0);
  return kIsMax ? kMin : static_cast<T>(~static_cast<std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>>(kMin));
}

// Sixteen running values, then their tree: the order depends on the number of columns alone.
template <Join kJoin, class T>
T reduce_row(const T* p, int64_t step, int64_t cols) {
  constexpr int kWays = 16;
  if (step == 0) {
    T r = *p;
    if constexpr (kJoin == Join::sum) r = static_cast<T>(r * static_cast<T>(cols));
    return r;
  }
  if (cols < kWays) {
    T r = p[0];
    for (int64_t c = 1; c < cols; ++c) r = join<kJoin>(r, p[c]);
    return r;
  }
  T way[kWays];
  for (int i = 0; i < kWays; ++i) way[i] = p[i];
  int64_t c = kWays;
  for (; c + kWays <= cols; c += kWays)
    for (int i = 0; i < kWays; ++i) way[i] = join<kJoin>(way[i], p[c + i]);
  for (int i = 0; c + i < cols; ++i) way[i] = join<kJoin>(way[i], p[c + i]);
  for (int half = kWays / 2; half; half /= 2)
    for (int i = 0; i < half; ++i) way[i] = join<kJoin>(way[i], way[i + half]);
  return way[0];
}

template <Join kJoin>
TENFOLD_INLINE vf join_vector(vf a, vf b) {
  if constexpr (kJoin == Join::sum)
    return add(a, b);
  else if constexpr (kJoin == Join::max)
    return max_nan(a, b);
  else
    return min_nan(a, b);
}
template <Join kJoin>
float reduce_row_f32(const float* p, int64_t step, int64_t cols) {
  if (step == 0 || cols < 4 * kLanes) return reduce_row<kJoin, float>(p, step, cols);
  vf a = load(p), b = load(p + kLanes), x = load(p + 2 * kLanes), d = load(p + 3 * kLanes);
  int64_t c = 4 * kLanes;
  for (; c + 4 * kLanes <= cols; c += 4 * kLanes) {
    a = join_vector<kJoin>(a, load(p + c));
    b = join_vector<kJoin>(b, load(p + c + kLanes));
    x = join_vector<kJoin>(x, load(p + c + 2 * kLanes));
    d = join_vector<kJoin>(d, load(p + c + 3 * kLanes));
  }
  for (; c + kLanes <= cols; c += kLanes) a = join_vector<kJoin>(a, load(p + c));
  float lane[kLanes];
  store(lane, join_vector<kJoin>(join_vector<kJoin>(a, b), join_vector<kJoin>(x, d)));
  for (int i = 0; c + i < cols; ++i) lane[i] = join<kJoin>(lane[i], p[c + i]);
  for (int half = kLanes / 2; half; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = join<kJoin>(lane[i], lane[i + half]);
  return lane[0];
}

template <Join kJoin, class T>
void reduce(void* accumulator, const PointwiseArg& arg, unsigned uniform, bool first, int64_t rows, int64_t cols) {
  T* out = static_cast<T*>(accumulator);
  for (int64_t r = 0; r < rows; ++r) {
    const T* p = static_cast<const T*>(arg.data) + r * arg.row_stride;
    T value;
    if (cols == 0)
      value = identity<kJoin, T>();
    else if constexpr (std::is_same_v<T, float>)
      value = reduce_row_f32<kJoin>(p, uniform & 1 ? 0 : 1, cols);
    else
      value = reduce_row<kJoin, T>(p, uniform & 1 ? 0 : 1, cols);
    out[r] = first ? value : join<kJoin>(out[r], value);
  }
}

template <class T>
void gather(void* to, int64_t to_row, const void* from, int64_t from_row, int64_t col_stride, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    T* o = static_cast<T*>(to) + r * to_row;
    const T* a = static_cast<const T*>(from) + r * from_row;
    for (int64_t c = 0; c < cols; ++c) o[c] = a[c * col_stride];
  }
}
template <class T>
void scatter(void* to, int64_t to_row, const void* from, int64_t from_row, int64_t col_stride, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    T* o = static_cast<T*>(to) + r * to_row;
    const T* a = static_cast<const T*>(from) + r * from_row;
    for (int64_t c = 0; c < cols; ++c) o[c * col_stride] = a[c];
  }
}

template <class T>
constexpr void fill(PointwiseRowKernels& t, LaneType lane) {
  PointwiseReduce* row = t.reduce[static_cast<int>(lane)];
  row[0] = reduce<Join::sum, T>;
  row[1] = reduce<Join::max, T>;
  row[2] = reduce<Join::min, T>;
}
constexpr PointwiseRowKernels table() {
  PointwiseRowKernels t{};
  fill<float>(t, LaneType::f32);
  fill<double>(t, LaneType::f64);
  fill<std::int64_t>(t, LaneType::i64);
  fill<std::int32_t>(t, LaneType::i32);
  fill<std::int16_t>(t, LaneType::i16);
  fill<std::int8_t>(t, LaneType::i8);
  fill<std::uint64_t>(t, LaneType::u64);
  fill<std::uint32_t>(t, LaneType::u32);
  fill<std::uint16_t>(t, LaneType::u16);
  fill<std::uint8_t>(t, LaneType::u8);
  t.gather[0] = gather<std::uint8_t>;
  t.gather[1] = gather<std::uint16_t>;
  t.gather[2] = gather<std::uint32_t>;
  t.gather[3] = gather<std::uint64_t>;
  t.scatter[0] = scatter<std::uint8_t>;
  t.scatter[1] = scatter<std::uint16_t>;
  t.scatter[2] = scatter<std::uint32_t>;
  t.scatter[3] = scatter<std::uint64_t>;
  return t;
}

}  // namespace

extern "C" constinit const PointwiseRowKernels TENFOLD_TABLE(pointwise_row) = table();

}  // namespace tenfold::backends::cpu
