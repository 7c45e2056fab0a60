#include "text/tokenizers/normalize/charsmap.h"

#include "text/chars.h"
#include "text/fail.h"

namespace tenfold::tokenizing {
namespace {

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Of a unit of the array.
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000ff; }
bool has_value(std::uint32_t unit) { return (unit & 0x100) != 0; }
constexpr std::uint32_t kValue = 0x7fffffff;

}  // namespace

Charsmap::Charsmap(std::string_view bytes, const Json& where) {
  const std::size_t size = bytes.size() < 4 ? 0 : little_endian(bytes);
  if (bytes.size() < 4 || size > bytes.size() - 4 || size % 4 != 0)
    where.wrong("the map says that its trie has " + std::to_string(size) + " bytes, and it has " + std::to_string(bytes.size()) +
                " in all");
  for (std::size_t i = 0; i < size; i += 4) units_.push_back(little_endian(bytes.substr(4 + i, 4)));
  texts_ = bytes.substr(4 + size);
  try {
    scalars(texts_);
  } catch (const Error&) {
    where.wrong("the map's texts are no UTF-8");
  }
}

std::optional<std::string_view> Charsmap::find(std::string_view text) const {
  if (units_.empty()) return std::nullopt;
  std::size_t at = offset_of(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    at ^= byte;
    if (byte == 0 || at >= units_.size() || label_of(units_[at]) != byte) return std::nullopt;
    const std::uint32_t unit = units_[at];
    at ^= offset_of(unit);
    if (!has_value(unit)) continue;
    const std::size_t begin = at < units_.size() ? units_[at] & kValue : SIZE_MAX;
    const bool is_inside = begin < texts_.size() && (static_cast<unsigned char>(texts_[begin]) & 0xc0) != 0x80;
    return is_inside ? std::optional<std::string_view>(texts_.c_str() + begin) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tenfold::tokenizing
