// Attention of ONNX Runtime's optimizer as FusedAttention: heads, masks and a cache.
#pragma once

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// One node's heads. Its attributes: num_heads, scale, unidirectional, mask_filter_value.
struct Heads {
  OnnxImport& call;
  std::int64_t count;
  Value *q = nullptr, *k = nullptr, *v = nullptr;              // [batch, heads, rows, size]
  Value *mask = nullptr, *score_bias = nullptr, *past_k = nullptr, *past_v = nullptr;

  explicit Heads(OnnxImport& call);
  // Operands from `first` on say how much of a cache counts that the results share: ignored, they would give wrong numbers.
  void expect_own_cache(int first) const;
  Value* apart(Value* value) const;   // [batch, rows, heads * size] with the heads apart
  Value* attend();                    // Y; puts the cache in front of k and v

 private:
  float masked() const { return call.attributes.number("mask_filter_value", -10000.0f); }
  Value* hiding(Value* keeps) const;
  Value* mask_addend() const;
  Value* causal_addend() const;
};

// Attention of [batch, rows, queries + keys + values], with the node's past keys and values in one tensor. Results: Y, present. Operands
// from `own` on belong to a shared cache.
std::vector<Value*> attend_packed(OnnxImport& call, Value* packed, Value* mask, Value* past, Value* score_bias, int own);

}  // namespace tenfold::onnx_ops
