// Reasons by name.
#include "onnx_import/refused_names.h"

#include <algorithm>

namespace tenfold::onnx_import {
namespace {

struct Reason {
  const char* why;
  const char* names;   // separated by spaces
};

constexpr Reason kMicrosoft[] = {
    {"its cache lies in pages that a server hands out between runs, which a plan has no place for: export the decoder with "
     "GroupQueryAttention or with ONNX's Attention",
     "PagedAttention SparsePagedAttention SparseAttention SparseAttentionIndexer PackedSparseAttentionIndexer DynamicSparseAttention"},
    {"it is a whole loop that generates text around a decoder: export the decoder alone, and loop around its runs",
     "BeamSearch GreedySearch Sampling WhisperBeamSearch"},
    {"it is written for ONNX Runtime's own loop of generation: export the decoder with MultiHeadAttention or GroupQueryAttention",
     "DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention DecoderAttention"},
    {"it holds a program that another runtime has compiled for one kind of device: use the model it was made of", "EPContext Snpe"},
    {"its int8 values lie in an order that one kind of GPU has: export the model with QuantizeLinear and DequantizeLinear",
     "QOrderedAttention QOrderedGelu QOrderedLayerNormalization QOrderedLongformerAttention QOrderedMatMul QuantizeWithOrder "
     "DequantizeWithOrder"},
};

bool has(std::string_view names, std::string_view name) {
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(' ', at), names.size());
    if (names.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::string why_refused(std::string_view domain, std::string_view op) {
  if (domain == "com.microsoft")
    for (const Reason& reason : kMicrosoft)
      if (has(reason.names, op))
        return "the operator '" + std::string(op) + "' of com.microsoft is not computed: " + reason.why;
  if (op.ends_with("_TRT") || op.ends_with("PluginDynamic"))
    return "'" + std::string(op) +
           "' is a plug-in of TensorRT without a definition here: give it as a plug-in (docs/guides/plugins.md), or export the model "
           "without it";
  return "";
}

}  // namespace tenfold::onnx_import
