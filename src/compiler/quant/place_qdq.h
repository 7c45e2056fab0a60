// Where a plain f32 graph gets QuantizeLinear and DequantizeLinear, so that its products become products of 8 bits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "quant/calibrator.h"
#include "quant/corrections.h"
#include "quant/known_weights.h"
#include "quant/weights/channels.h"

namespace tenfold::quant {

// Ranges of values, by name, and what makes up for them.
struct Ranges : std::map<std::string, Range, std::less<>> {
  using map::map;
  Corrections corrections = {};
  std::shared_ptr<KnownWeights> known = {};   // shared by what is tried one after the other; null: none
};

enum class Activations {
  unsigned_bytes,              // u8; where values have both signs, with a zero point
  unsigned_if_never_negative,  // u8 from zero on, else i8 around zero
  signed_bytes,                // i8 around zero, all of them
};

// What a device, or the reader of a file, gains by.
struct Placing {
  Activations activations = Activations::unsigned_bytes;     // of products of bytes
  WeightForm weights = WeightForm::bytes;                    // of the same
  bool float8 = false;                 // products have e4m3 in place of bytes, around zero
  std::function<bool(const ir::Node& product)> takes = {};   // whether it multiplies these in 8 bits; null: all
  std::function<bool(const ir::Node& product)> other = {};   // which of these have the other of both; null: none
  bool has_other(const ir::Node& product) const { return other && other(product); }
  bool is_float8(const ir::Node& product) const { return float8 != has_other(product); }
  bool around_zero(double low) const;  // whether a value whose least element is this is quantized around zero, by most products
  bool shortcuts = false;   // whether a product that only a residual's sum reads gives 8 bits, too, where the sum becomes 8 bits
};

// Why a product stays in floats whatever its data are, in words that follow "because"; empty for one that may become a product of 8 bits,
// and for nodes that are no products.
std::string why_wide(const ir::Node& node);
bool is_product(const ir::Node& node);   // of those that 8 bits could stand for: Conv, MatMul, Gemm

// Whether a node's results are elements of operand 0 (of a Concat: of all its operands), so that they have its quantization.
bool passes_on(const ir::Node& node);
bool passes_on_from(const ir::Node& node, std::size_t operand);

// The values that placing asks ranges of: data operands of convolutions and of products with constant weights, f32 all of them. Of a
// value that only moves elements, those that they come from are named, too.
std::set<std::string> values_to_observe(const ir::Graph& graph, const Placing& placing);

// The products that place_qdq() gives 8 bits, in the order of the graph.
std::vector<const ir::Node*> products_to_quantize(const ir::Graph& graph, const Ranges& ranges, const Placing& placing);

// Gives each such value that has a range one QuantizeLinear and DequantizeLinear, and constant weights the same with a scale for each
// output channel. Concat and what only moves elements pass their parameters on to their operands. An operand of an Add whose sum becomes
// 8 bits, too, is read as 8 bits; with `shortcuts` also by a sum that stays wide, if nobody else reads the floats. Channels are scaled
// before; weights and biases are corrected only of products that get the 8 bits that most have. A refit leaves such weights alone. True
// if anything changed. Values without a range stay as they are, and so do those that a DequantizeLinear made.
bool place_qdq(ir::Graph& graph, const Ranges& ranges, const Placing& placing);

}  // namespace tenfold::quant
