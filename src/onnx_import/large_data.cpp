// The wire format of protocol buffers as far as from a model to its initializers' raw data.
#include "onnx_import/large_data.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/checked.h"
#include "base/spread.h"

namespace tenfold::onnx_import {
namespace {

using Bytes = std::span<const std::byte>;
constexpr std::size_t kLarge = 64 << 10, kBlock = 32 << 20, kStretch = 4 << 20;
constexpr std::size_t kMostBytes = 0x7fffffff;   // parse.cpp

enum class Level { model, graph, tensor };
constexpr std::uint64_t kGraph = 7, kInitializer = 5, kRawData = 9, kLargeData = 100000;   // fields, as in onnx_subset.proto
enum Wire : std::uint64_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

std::optional<std::uint64_t> take_varint(Bytes& from) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<std::uint64_t>(from[0]);
    from = from.subspan(1);
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  return std::nullopt;
}
void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<char>(value | 128));
  to.push_back(static_cast<char>(value));
}
void put(std::string& to, Bytes bytes) { to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }

// The value behind a tag; none if that is more than there is.
std::optional<Bytes> take_value(Bytes& from, std::uint64_t wire) {
  std::optional<std::uint64_t> bytes;
  const Bytes begin = from;
  if (wire == varint) return take_varint(from) ? std::optional(begin.first(begin.size() - from.size())) : std::nullopt;
  if (wire == fixed64) bytes = 8;
  if (wire == fixed32) bytes = 4;
  if (wire == length) bytes = take_varint(from);
  if (!bytes || *bytes > from.size()) return std::nullopt;
  const Bytes value = from.first(*bytes);
  from = from.subspan(*bytes);
  return value;
}

// Appends `message` without large data. False: it is not well formed, or not as writers write it.
bool strip(Bytes message, Level level, std::string& to, std::vector<Bytes>& data) {
  int raw = 0;
  while (!message.empty()) {
    const Bytes begin = message;
    const auto tag = take_varint(message);
    const auto value = tag ? take_value(message, *tag & 7) : std::nullopt;
    if (!value) return false;
    const std::uint64_t field = *tag >> 3;
    const bool nested = (level == Level::model && field == kGraph) || (level == Level::graph && field == kInitializer);
    if (level == Level::tensor && (field == kLargeData || (field == kRawData && ++raw > 1))) return false;
    if (nested && (*tag & 7) == length) {
      std::string stripped;
      if (!strip(*value, level == Level::model ? Level::graph : Level::tensor, stripped, data)) return false;
      put_varint(to, *tag), put_varint(to, stripped.size());
      to += stripped;
    } else if (level == Level::tensor && field == kRawData && value->size() >= kLarge) {
      put_varint(to, kLargeData << 3), put_varint(to, data.size());
      data.push_back(*value);
    } else {
      put(to, begin.first(begin.size() - message.size()));
    }
  }
  return true;
}

}  // namespace

std::string LargeData::take_from(Bytes model) {
  std::string stripped;
  if (model.size() <= kMostBytes && strip(model, Level::model, stripped, data_) && !data_.empty()) return stripped;
  data_.clear();
  return "";
}

std::byte* LargeData::place(std::size_t bytes) {
  if (!block_ || size_ - used_ < bytes) {
    used_ = 0, size_ = std::max(bytes, kBlock);
    // Small pages: these bytes live for a build, and pages just freed are cleared faster than huge ones are found.
    block_ = {std::aligned_alloc(64, static_cast<std::size_t>(round_up(static_cast<std::int64_t>(size_), 64))), std::free};
    require(block_ != nullptr, ErrorKind::out_of_memory, "cannot allocate ", size_, " bytes for weights");
  }
  auto* const at = static_cast<std::byte*>(block_.get()) + used_;
  used_ += std::min(static_cast<std::size_t>(round_up(static_cast<std::int64_t>(bytes), 64)), size_ - used_);
  return at;
}

Bytes LargeData::bytes(std::uint64_t number) const {
  require(number < data_.size(), ErrorKind::invalid_model, "asks for data that its file does not have");
  return data_[number];
}

Tensor LargeData::tensor(DType type, const Shape& shape, std::uint64_t number) {
  const Bytes from = bytes(number);
  const std::int64_t needed = byte_size(type, element_count(shape));
  require(static_cast<std::int64_t>(from.size()) == needed, ErrorKind::invalid_model, "holds ", from.size(), " bytes of data, its shape [",
          text(shape), "] of ", name(type), " needs ", needed);
  std::byte* const to = place(from.size());
  for (std::size_t at = 0; at < from.size(); at += kStretch)
    copies_.push_back({from.data() + at, to + at, std::min(kStretch, from.size() - at)});
  return Tensor(type, shape, block_, to);
}

void LargeData::read() {
  std::int64_t bytes = 0;
  for (const Copy& c : copies_) bytes += static_cast<std::int64_t>(c.bytes);
  spread(static_cast<std::int64_t>(copies_.size()), bytes, [&](std::int64_t part) {
    constexpr std::uintptr_t kPage = 4096;
    const Copy& c = copies_[static_cast<std::size_t>(part)];
    std::memcpy(c.to, c.from, c.bytes);
    // The file's pages count as memory of this process while they are mapped; advice, so what comes of it does not matter.
    const auto begin = reinterpret_cast<std::uintptr_t>(c.from);
    const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = (begin + c.bytes) / kPage * kPage;
    if (mapped_ && first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  });
  copies_.clear();
}

}  // namespace tenfold::onnx_import
