// The wire form of protocol buffers, which ONNX files have: fields of a number and a value, every length checked against what holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenfold::onnx_import {

using Bytes = std::span<const std::byte>;

inline constexpr std::size_t kMostMessages = 10'000'000;   // of a file: nodes, attributes, tensors, types and their parts
inline constexpr std::size_t kLongestName = 4096;          // characters of a name

// The file that is being read: what complaints name, and what came up that the standard does not know (yet).
struct Source {
  Bytes bytes;
  const char* what;                      // "an ONNX model"
  std::vector<std::string> unknown = {};   // "field 30 of NodeProto", each once
  // An empty message takes two bytes of a file and hundreds of memory, so that their number is bounded. `found` counts them.
  std::size_t most_messages = kMostMessages, found = 0;
};

// The fields of one message, in the order of the file. Throws invalid_model where the bytes are no such message. Values lie in the file.
class Fields {
 public:
  explicit Fields(Source& source, const char* message) : Fields(source, message, source.bytes, 0) {}
  bool next();   // to the next field; false behind the last one
  std::uint32_t number() const { return number_; }
  Bytes whole() const { return whole_; }   // the field at hand as it stands: tag, length and value
  // The value of the field at hand, of the wire type that the standard gives it.
  std::int64_t integer() const;
  float f32() const;
  Bytes bytes() const;
  std::string string() const;
  std::string text() const;   // a string in UTF-8, as the standard's strings are; its bytes, such as values of tensors, need not be
  std::string name() const;   // a text of at most kLongestName: names are kept many times over
  Fields message(const char* name) const;
  // One element of a list, or many packed into one field.
  void append(std::vector<std::int64_t>& list) const { varints(list); }
  void append(std::vector<std::uint64_t>& list) const { varints(list); }
  void append(std::vector<std::int32_t>& list) const { varints(list); }
  void append(std::vector<float>& list) const { words(list, kFixed32); }
  void append(std::vector<double>& list) const { words(list, kFixed64); }
  // Notes a field that is not the standard's; it is skipped.
  void unknown() const;

 private:
  enum Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };
  Fields(Source& source, const char* message, Bytes bytes, int depth);
  void take_field();
  std::uint64_t take_varint(Bytes& from) const;
  void expect(Wire wire) const;
  [[noreturn]] void refuse(const std::string& why) const;   // what is well-formed, but too much
  [[noreturn]] void bad(const std::string& why) const;
  template <class T> void varints(std::vector<T>& list) const;
  template <class T> void words(std::vector<T>& list, Wire alone) const;

  Source& source_;
  const char* message_;
  Bytes rest_, value_ = {}, whole_ = {};
  int depth_;
  std::uint32_t number_ = 0, wire_ = 0;
  std::uint64_t varint_ = 0;
};

}  // namespace tenfold::onnx_import
