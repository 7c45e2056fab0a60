// Bytes to protobuf messages, within limits of size and nesting.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <span>

namespace tenfold::onnx_import {

// Throws invalid_model, saying that `what` was expected, unless the bytes are exactly one such message.
void parse(std::span<const std::byte> bytes, google::protobuf::MessageLite& message, const char* what);

}  // namespace tenfold::onnx_import
