#include "onnx_export/rope.h"

#include <cstdint>
#include <utility>

namespace tenfold::onnx_export {
namespace {

std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 128; value >>= 7) text.push_back(static_cast<char>(value | 128));
  text.push_back(static_cast<char>(value));
  return text;
}

std::string tag(int field, unsigned wire) { return varint(static_cast<std::uint64_t>(field) << 3 | wire); }
constexpr unsigned kVarint = 0, kLength = 2;

}  // namespace

void Rope::refer(Bytes part) {
  if (part.empty()) return;
  size_ += part.size();
  if (!pieces_.empty() && pieces_.back().data() + pieces_.back().size() == part.data())
    pieces_.back() = {pieces_.back().data(), pieces_.back().size() + part.size()};
  else
    pieces_.push_back(part);
}

void Rope::refer(Bytes part, std::shared_ptr<const void> owner) {
  refer(part);
  owners_.push_back(std::move(owner));
}

void Rope::add(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  refer(std::as_bytes(std::span(*owner)), owner);
}

void Rope::add(Rope other) {
  for (const Bytes part : other.pieces_) refer(part);
  owners_.insert(owners_.end(), other.owners_.begin(), other.owners_.end());
}

std::string Rope::flat() const {
  std::string text;
  text.reserve(size_);
  for (const Bytes part : pieces_) text.append(reinterpret_cast<const char*>(part.data()), part.size());
  return text;
}

void put_integer(Rope& to, int field, std::int64_t value) { to.add(tag(field, kVarint) + varint(static_cast<std::uint64_t>(value))); }

void put_text(Rope& to, int field, std::string_view text) { to.add(tag(field, kLength) + varint(text.size()) + std::string(text)); }

void put_message(Rope& to, int field, Rope message) {
  to.add(tag(field, kLength) + varint(message.size()));
  to.add(std::move(message));
}

}  // namespace tenfold::onnx_export
