// Sequences that import follows: where what one holds is known when the model is read, no node on tensors waits for it. Where it is not,
// the graph has the sequence.
#pragma once

#include <optional>

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// The elements of the sequence that is operand i; nothing if they are not known.
std::optional<std::vector<Value*>> elements(OnnxImport& call, int i);
// A number that is known now; `otherwise` where operand i is left out; nothing if data decide it.
std::optional<std::int64_t> number(OnnxImport& call, int i, std::int64_t otherwise);
// A place among `size`, from behind if negative.
std::optional<std::size_t> place(OnnxImport& call, int i, std::int64_t size, std::int64_t otherwise);
// The node as the graph's operator of the same name.
std::vector<Value*> as_it_is(OnnxImport& call, Attributes attributes = {});

}  // namespace tenfold::onnx_ops
