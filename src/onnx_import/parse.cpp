// Parsing with the limits of the standard: 2 GiB for a file, 100 messages inside each other.
#include "onnx_import/parse.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>

#include "base/check.h"

namespace tenfold::onnx_import {

void parse(std::span<const std::byte> bytes, google::protobuf::MessageLite& message, const char* what) {
  constexpr int kLimit = std::numeric_limits<int>::max();
  require(!bytes.empty(), ErrorKind::invalid_model, "is empty, ", what, " was expected");
  require(bytes.size() <= static_cast<std::size_t>(kLimit), ErrorKind::invalid_model, "has ", bytes.size(),
          " bytes; ONNX files end at 2 GiB, larger models keep their weights as external data");
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  in.SetTotalBytesLimit(kLimit);
  in.SetRecursionLimit(100);
  const bool whole = message.MergeFromCodedStream(&in) && in.ConsumedEntireMessage();
  require(whole, ErrorKind::invalid_model, "is not ", what, ", or it is cut off or damaged");
}

}  // namespace tenfold::onnx_import
