// Messages of an ONNX file: the wire form of protocol buffers (tenfold/internal/protobuf.h), with the place of every fault in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tenfold/internal/protobuf.h"

namespace tenfold::onnx_import {

using Bytes = ProtobufFields::Bytes;

inline constexpr std::size_t kMaxMessages = 10'000'000;   // of a file: nodes, attributes, tensors, types and their parts
inline constexpr std::size_t kLongestName = 4096;          // characters of a name

// The file that is being read: what complaints name, and what came up that the standard does not know (yet).
struct Source {
  Bytes bytes;
  const char* what;                      // "an ONNX model"
  std::vector<std::string> unknown = {};   // "field 30 of NodeProto", each once
  // An empty message takes two bytes of a file and hundreds of memory, so that their number is bounded. `found` counts them.
  std::size_t max_messages = kMaxMessages, found = 0;
};

// The fields of one message, in the order of the file. Throws invalid_model where the bytes are no such message. Values lie in the file.
class Fields {
 public:
  explicit Fields(Source& source, const char* message) : Fields(source, message, source.bytes, 0) {}
  bool next();   // to the next field; false behind the last one
  std::uint32_t number() const { return fields_.number(); }
  Bytes whole() const { return fields_.whole(); }   // the field at hand as it stands: tag, length and value
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
  void append(std::vector<float>& list) const { words(list, Wire::kFixed32); }
  void append(std::vector<double>& list) const { words(list, Wire::kFixed64); }
  // Notes a field that is not the standard's; it is skipped.
  void unknown() const;

 private:
  using Wire = ProtobufFields::Wire;
  Fields(Source& source, const char* message, Bytes bytes, int depth);
  template <class Read> auto read(Read read) const;   // with the message and the place in the file where it throws
  [[noreturn]] void refuse(const std::string& why) const;   // what is well-formed, but too much
  [[noreturn]] void bad(const std::string& why) const;
  template <class T> void varints(std::vector<T>& list) const;
  template <class T> void words(std::vector<T>& list, Wire alone) const;

  Source& source_;
  const char* message_;
  ProtobufFields fields_;
  int depth_;
};

}  // namespace tenfold::onnx_import
