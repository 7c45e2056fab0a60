// Values, lists and messages of the fields of a file, and the words for what is wrong.
#include "onnx_import/wire.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/types/utf8.h"

namespace tenfold::onnx_import {
namespace {

constexpr int kMaxNested = 100;              // messages inside each other, as other readers of this form allow
constexpr std::size_t kMaxUnknown = 16;      // fields that are listed

}  // namespace

Fields::Fields(Source& source, const char* message, Bytes bytes, int depth)
    : source_(source), message_(message), fields_(bytes), depth_(depth) {
  if (depth > kMaxNested) bad(cat("messages are nested more than ", kMaxNested, " deep"));
}

void Fields::bad(const std::string& why) const {
  fail(ErrorKind::invalid_model, cat("is not ", source_.what, ", or it is cut off or damaged: ", message_, ", byte ",
                                     fields_.rest().data() - source_.bytes.data(), ": ", why));
}

void Fields::refuse(const std::string& why) const {
  fail(ErrorKind::invalid_model, cat(message_, ", byte ", fields_.rest().data() - source_.bytes.data(), ": ", why));
}

template <class Read>
auto Fields::read(Read read) const {
  try {
    return read();
  } catch (const Error& e) {
    bad(e.what());
  }
}

bool Fields::next() {
  return read([&] { return fields_.next(); });
}

std::int64_t Fields::integer() const {
  return read([&] { return static_cast<std::int64_t>(fields_.varint()); });
}

float Fields::f32() const {
  return read([&] { return std::bit_cast<float>(fields_.fixed32()); });
}

Bytes Fields::bytes() const {
  return read([&] { return fields_.bytes(); });
}

std::string Fields::string() const {
  return std::string(read([&] { return fields_.text(); }));
}

std::string Fields::name() const {
  if (const std::size_t size = bytes().size(); size > kLongestName)
    refuse(cat("a name has ", size, " characters (field ", number(), "), at most ", kLongestName, " are supported"));
  return text();
}

std::string Fields::text() const {
  std::string all = string();
  if (!is_utf8(all)) bad(cat("field ", number(), " is a text, and '", readable(all.substr(0, 80)), "' is no UTF-8"));
  return all;
}

Fields Fields::message(const char* name) const {
  if (++source_.found > source_.max_messages)
    refuse(cat("the file has more than ", source_.max_messages, " messages (nodes, attributes, tensors, types and their parts)"));
  return {source_, name, bytes(), depth_ + 1};
}

template <class T>
void Fields::varints(std::vector<T>& list) const {
  if (fields_.wire() == Wire::kVarint) return list.push_back(static_cast<T>(fields_.varint()));
  Bytes packed = bytes();
  const auto count = std::count_if(packed.begin(), packed.end(), [](std::byte b) { return b < std::byte{128}; });
  if (list.empty()) list.reserve(static_cast<std::size_t>(count));
  read([&] {
    while (!packed.empty()) list.push_back(static_cast<T>(ProtobufFields::take_varint(packed)));
  });
}
template void Fields::varints(std::vector<std::int32_t>&) const;
template void Fields::varints(std::vector<std::int64_t>&) const;
template void Fields::varints(std::vector<std::uint64_t>&) const;

template <class T>
void Fields::words(std::vector<T>& list, Wire alone) const {
  const Bytes value = fields_.wire() == alone ? fields_.value() : bytes();
  if (value.size() % sizeof(T) != 0) bad(cat("field ", number(), " holds ", value.size(), " bytes, no multiple of ", sizeof(T)));
  if (value.empty()) return;
  const std::size_t had = list.size();
  list.resize(had + value.size() / sizeof(T));
  std::memcpy(list.data() + had, value.data(), value.size());
}
template void Fields::words(std::vector<float>&, Wire) const;
template void Fields::words(std::vector<double>&, Wire) const;

void Fields::unknown() const {
  const std::string field = cat("field ", number(), " of ", message_);
  auto& all = source_.unknown;
  if (all.size() < kMaxUnknown && std::find(all.begin(), all.end(), field) == all.end()) all.push_back(field);
}

}  // namespace tenfold::onnx_import
