// Products of a plain model that quantize their rows as they run: what the rules of this name share.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

// What rows and weights become. For CPUs: bytes around 128, and weights within [-most, most]. For a GPU's tensor cores: i8, or e4m3.
struct RowsForm {
  DType type = DType::u8;
  int max = 127;
  bool usual = true;   // products take it whose layer the user gave no type, too
  bool for_tensor_cores() const { return type != DType::u8; }
};

// Each product of f32 with a constant matrix becomes one of 8 bits. True if anything changed.
bool quantize_rows(ir::Graph& graph, const RowsForm& form);

}  // namespace tenfold::passes
