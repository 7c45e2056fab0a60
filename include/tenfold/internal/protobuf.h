// The wire form of protocol buffers, which models of ONNX and of SentencePiece have: fields of a number and a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tenfold/error.h"

namespace tenfold {

// The fields of one message, in the order of its bytes, which outlive this. Every length is compared with what is left. Throws
// invalid_model, saying what is wrong, where the bytes are no message.
class ProtobufFields {
 public:
  using Bytes = std::span<const std::byte>;
  enum Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

  explicit ProtobufFields(Bytes message) : rest_(message) {}
  explicit ProtobufFields(std::string_view message) : rest_(std::as_bytes(std::span(message))) {}

  // To the next field; false after the last one.
  bool next() {
    if (rest_.empty()) return false;
    const Bytes from = rest_;
    const std::uint64_t tag = take_varint(rest_);
    number_ = static_cast<std::uint32_t>(tag >> 3), wire_ = static_cast<Wire>(tag & 7), value_ = {};
    if (tag >> 3 == 0 || tag >> 32 != 0) bad("there is no field " + std::to_string(tag >> 3));
    switch (wire_) {
      case kVarint: varint_ = take_varint(rest_); break;
      case kFixed64: take(8); break;
      case kFixed32: take(4); break;
      case kLength: take(take_varint(rest_)); break;
      default: bad("field " + std::to_string(number_) + " has the wire type " + std::to_string(wire_));
    }
    whole_ = from.first(from.size() - rest_.size());
    return true;
  }
  std::uint32_t number() const { return number_; }
  Wire wire() const { return wire_; }
  Bytes rest() const { return rest_; }     // after the current field
  Bytes whole() const { return whole_; }   // the field at hand as it stands: tag, length and value
  // The value of the field at hand, which is of this wire type.
  std::uint64_t varint() const { return expect(kVarint), varint_; }
  std::uint32_t fixed32() const { return expect(kFixed32), static_cast<std::uint32_t>(little_endian()); }
  Bytes bytes() const { return expect(kLength), value_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes().data()), value_.size()}; }
  Bytes value() const { return value_; }   // of any wire type but kVarint

  // The number at the front of `from`, which is taken from it.
  static std::uint64_t take_varint(Bytes& from) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (from.empty()) bad("a number is cut off");
      const auto byte = static_cast<std::uint64_t>(from[0]);
      from = from.subspan(1);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    bad("a number has more than 10 bytes");
  }

 private:
  [[noreturn]] static void bad(std::string why) { throw Error(ErrorKind::invalid_model, std::move(why)); }
  void take(std::uint64_t size) {
    if (size > rest_.size())
      bad("field " + std::to_string(number_) + " has " + std::to_string(size) + " bytes, but " + std::to_string(rest_.size()) +
          " are left");
    value_ = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
  }
  void expect(Wire wire) const {
    if (wire_ != wire)
      bad("field " + std::to_string(number_) + " has the wire type " + std::to_string(wire_) + ", expected " + std::to_string(wire));
  }
  std::uint64_t little_endian() const {
    std::uint64_t result = 0;
    for (std::size_t i = value_.size(); i-- > 0;) result = result << 8 | static_cast<std::uint64_t>(value_[i]);
    return result;
  }

  Bytes rest_, value_ = {}, whole_ = {};
  std::uint32_t number_ = 0;
  Wire wire_ = kVarint;
  std::uint64_t varint_ = 0;
};

}  // namespace tenfold
