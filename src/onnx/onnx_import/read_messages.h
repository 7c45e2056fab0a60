// Bytes to the standard's messages. A field that stands twice: the last value counts, lists and messages go on, as in protocol buffers.
#pragma once

#include "onnx_import/messages.h"

namespace tenfold::onnx_import {

// Throw invalid_model, saying what was expected, unless the bytes are exactly one such message. The bytes outlive the message.
// `unknown`: fields that are not the standard's as it is known here, and are skipped ("field 30 of NodeProto").
onnx::ModelProto read_model(Bytes bytes, std::vector<std::string>* unknown = nullptr, std::size_t max_messages = kMaxMessages);
onnx::TensorProto read_tensor(Bytes bytes);
onnx::SequenceProto read_sequence(Bytes bytes);
onnx::OptionalProto read_optional(Bytes bytes);   // may be empty

// Within a message (read_tensors.cpp).
void read_fields(Fields in, onnx::TensorProto& m);
void read_fields(Fields in, onnx::SparseTensorProto& m);
void read_fields(Fields in, onnx::TypeProto& m);   // read_types.cpp

}  // namespace tenfold::onnx_import
