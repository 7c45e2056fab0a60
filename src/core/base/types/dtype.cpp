// Names and sizes of element types; shapes as text.
#include <array>

#include "base/checked.h"
#include "tenfold/tensor.h"

namespace tenfold {
namespace {

struct Row {
  std::string_view name;
  int bits;
  char kind;   // f float, i integer, b boolean, s string
};
constexpr std::array<Row, static_cast<std::size_t>(DType::count_)> kRows{{
    {"f32", 32, 'f'}, {"f64", 64, 'f'}, {"f16", 16, 'f'}, {"bf16", 16, 'f'},
    {"i64", 64, 'i'}, {"i32", 32, 'i'}, {"i16", 16, 'i'}, {"i8", 8, 'i'},
    {"u64", 64, 'i'}, {"u32", 32, 'i'}, {"u16", 16, 'i'}, {"u8", 8, 'i'},
    {"i4", 4, 'i'}, {"u4", 4, 'i'}, {"i2", 2, 'i'}, {"u2", 2, 'i'},
    {"bool", 8, 'b'},
    {"f8e4m3fn", 8, 'f'}, {"f8e4m3fnuz", 8, 'f'}, {"f8e5m2", 8, 'f'}, {"f8e5m2fnuz", 8, 'f'}, {"f8e8m0", 8, 'f'}, {"f4e2m1", 4, 'f'},
    {"string", 0, 's'},
}};
const Row& row(DType type) {
  check(type < DType::count_, "element type ", static_cast<int>(type), " does not exist");
  return kRows[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view name(DType type) { return row(type).name; }
int bits(DType type) { return row(type).bits; }
bool is_float(DType type) { return row(type).kind == 'f'; }
bool is_integer(DType type) { return row(type).kind == 'i'; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == text) return static_cast<DType>(i);
  return std::nullopt;
}

std::int64_t byte_size(DType type, std::int64_t elements) {
  require(elements >= 0, ErrorKind::invalid_argument, "negative element count ", elements);
  return checked_add(checked_mul(elements, bits(type)), 7) / 8;
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) [[unlikely]]   // the words are made for nobody else: this is asked in each call
      fail(ErrorKind::invalid_argument, cat("negative extent in shape ", text(shape)));
    count = checked_mul(count, extent);
  }
  return count;
}

std::string text(std::span<const std::int64_t> shape) {
  std::string out;
  for (std::int64_t extent : shape) out += (out.empty() ? "" : "x") + std::to_string(extent);
  return out;
}

}  // namespace tenfold
