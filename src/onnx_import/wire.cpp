// Tags, varints, words of four and eight bytes, and what is preceded by its length.
#include "onnx_import/wire.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/types/utf8.h"

namespace tenfold::onnx_import {
namespace {

constexpr int kMostNested = 100;              // messages inside each other, as other readers of this form allow
constexpr std::size_t kMostUnknown = 16;      // fields that are listed

}  // namespace

Fields::Fields(Source& source, const char* message, Bytes bytes, int depth)
    : source_(source), message_(message), rest_(bytes), depth_(depth) {
  if (depth > kMostNested) bad(cat("messages are nested more than ", kMostNested, " deep"));
}

void Fields::bad(const std::string& why) const {
  fail(ErrorKind::invalid_model, cat("is not ", source_.what, ", or it is cut off or damaged: ", message_, ", byte ",
                                     rest_.data() - source_.bytes.data(), ": ", why));
}

std::uint64_t Fields::take_varint(Bytes& from) const {
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

void Fields::refuse(const std::string& why) const {
  fail(ErrorKind::invalid_model, cat(message_, ", byte ", rest_.data() - source_.bytes.data(), ": ", why));
}

bool Fields::next() {
  if (rest_.empty()) return false;
  const Bytes from = rest_;
  take_field();
  whole_ = from.first(from.size() - rest_.size());
  return true;
}

void Fields::take_field() {
  const std::uint64_t tag = take_varint(rest_);
  number_ = static_cast<std::uint32_t>(tag >> 3), wire_ = tag & 7;
  if (tag >> 3 == 0 || tag >> 32 != 0) bad(cat("there is no field ", tag >> 3));
  if (wire_ == kVarint) {
    varint_ = take_varint(rest_);
    return;
  }
  std::uint64_t size = 0;
  switch (wire_) {
    case kFixed64: size = 8; break;
    case kFixed32: size = 4; break;
    case kLength: size = take_varint(rest_); break;
    default: bad(cat("field ", number_, " has the wire type ", wire_));
  }
  if (size > rest_.size()) bad(cat("field ", number_, " has ", size, " bytes, but ", rest_.size(), " are left"));
  value_ = rest_.first(static_cast<std::size_t>(size));
  rest_ = rest_.subspan(static_cast<std::size_t>(size));
}

void Fields::expect(Wire wire) const {
  if (wire_ != wire) bad(cat("field ", number_, " has the wire type ", wire_, ", expected ", static_cast<std::uint32_t>(wire)));
}

std::int64_t Fields::integer() const {
  expect(kVarint);
  return static_cast<std::int64_t>(varint_);
}

float Fields::f32() const {
  expect(kFixed32);
  float value = 0;
  std::memcpy(&value, value_.data(), sizeof value);
  return value;
}

Bytes Fields::bytes() const {
  expect(kLength);
  return value_;
}

std::string Fields::string() const {
  expect(kLength);
  return {reinterpret_cast<const char*>(value_.data()), value_.size()};
}

std::string Fields::name() const {
  if (bytes().size() > kLongestName)
    refuse(cat("a name has ", value_.size(), " characters (field ", number_, "), at most ", kLongestName, " are supported"));
  return text();
}

std::string Fields::text() const {
  std::string all = string();
  if (!is_utf8(all)) bad(cat("field ", number_, " is a text, and '", readable(all.substr(0, 80)), "' is no UTF-8"));
  return all;
}

Fields Fields::message(const char* name) const {
  if (++source_.found > source_.most_messages)
    refuse(cat("the file has more than ", source_.most_messages, " messages (nodes, attributes, tensors, types and their parts)"));
  return {source_, name, bytes(), depth_ + 1};
}

template <class T>
void Fields::varints(std::vector<T>& list) const {
  if (wire_ == kVarint) return list.push_back(static_cast<T>(varint_));
  Bytes packed = bytes();
  const auto count = std::count_if(packed.begin(), packed.end(), [](std::byte b) { return b < std::byte{128}; });
  if (list.empty()) list.reserve(static_cast<std::size_t>(count));
  while (!packed.empty()) list.push_back(static_cast<T>(take_varint(packed)));
}
template void Fields::varints(std::vector<std::int32_t>&) const;
template void Fields::varints(std::vector<std::int64_t>&) const;
template void Fields::varints(std::vector<std::uint64_t>&) const;

template <class T>
void Fields::words(std::vector<T>& list, Wire alone) const {
  if (wire_ != alone) expect(kLength);
  if (value_.size() % sizeof(T) != 0) bad(cat("field ", number_, " holds ", value_.size(), " bytes, no multiple of ", sizeof(T)));
  if (value_.empty()) return;
  const std::size_t had = list.size();
  list.resize(had + value_.size() / sizeof(T));
  std::memcpy(list.data() + had, value_.data(), value_.size());
}
template void Fields::words(std::vector<float>&, Wire) const;
template void Fields::words(std::vector<double>&, Wire) const;

void Fields::unknown() const {
  const std::string field = cat("field ", number_, " of ", message_);
  auto& all = source_.unknown;
  if (all.size() < kMostUnknown && std::find(all.begin(), all.end(), field) == all.end()) all.push_back(field);
}

}  // namespace tenfold::onnx_import
