// What rules have in common that leave the norm of a product's rows to its readers.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

// What a norm would make: (sum * inverse - offset) * scale + bias.
struct DeferredNorm {
  ir::Value *sum, *inverse, *offset, *scale, *bias;
};

std::uint16_t wide(ir::BodyBuilder& b, std::uint16_t v);   // in f32
std::uint16_t narrow(ir::BodyBuilder& b, std::uint16_t v, DType type);
// A product with a constant matrix, or the sum before a norm, that reads `v` once, where it can be normalized.
bool multiplies(const ir::Node& user, const ir::Value* v);
bool adds(const ir::Node& user, const ir::Value* v);
ir::Interval rows_of(const ir::Graph& graph, const ir::Node& n);

// The rows that a product adds, in f32; either may be null.
ir::Value* sum_of_rows(ir::Graph& graph, ir::Value* a, ir::Value* b);
// The matrix that multiplies the sum in place of what the norm makes, and what is to be added.
std::vector<ir::Value*> centered(ir::Graph& graph, ir::Value* w, const DeferredNorm& norm);
// Takes the epilogue of `n`, or nothing, in behind `body`, whose result it reads; `product` gets its operands and the body.
void append_epilogue(const ir::Node& n, ir::Body body, ir::Node& product);

}  // namespace tenfold::passes
