// Where linear layers get weights of fewer than 16 bits from: a folder that has them so, or a rounding of its floats.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "text/json.h"
#include "text/transformers/narrow/fp4.h"
#include "text/transformers/narrow/narrow_matrix.h"
#include "text/transformers/weights.h"

namespace tenfold::transformers {

struct LinearLayer {
  std::string name;              // its floats are the tensor name + ".weight"
  std::int64_t in = 0, out = 0;
  bool by_input = false;         // they are [in, out], as GPT-2 has them, and not [out, in]
  bool gives_logits = false;
};

class NarrowWeights {
 public:
  virtual ~NarrowWeights() = default;
  virtual std::string text() const = 0;   // "int4:g32", "gptq int4:g128"
  // Nothing: this layer's weights are floats. Throws invalid_model, unsupported.
  virtual std::optional<NarrowMatrix> take(const Weights& weights, const LinearLayer& layer) const = 0;
};
using NarrowSource = std::shared_ptr<const NarrowWeights>;

// "int4:g32": bits, and how many neighbors along a layer's inputs share a scale; "mxfp4".
struct NarrowForm {
  int bits = 4;
  std::int64_t group = 0;   // 0: all of an output's
  Fp4 fp4 = Fp4::none;      // values are e2m1
  std::string text() const;
  std::int64_t block(std::int64_t in) const { return group > 0 && group < in ? group : in; }
};
NarrowForm narrow_form(const std::string& text);   // throws invalid_argument

// Floats are rounded to the nearest of 16 or 256 steps beside the largest value of a group.
NarrowSource round_to_nearest(const NarrowForm& form);
NarrowSource fp4_weights(const NarrowForm& form);  // to e2m1

// By config.json's quantization_config. Throws unsupported for what is not read, invalid_model.
NarrowSource gptq_weights(const tokenizing::Json& config);
NarrowSource awq_weights(const tokenizing::Json& config);
NarrowSource compressed_tensors_weights(const tokenizing::Json& config);
// What config.json describes, or what `wish` asks for, which may be empty; null: weights are floats.
NarrowSource narrow_weights(const tokenizing::Json& config, const std::string& wish);

// Kernels read groups of these sizes alone. Throws unsupported.
void check_group(std::int64_t group, std::int64_t in, const std::string& where);
// A group for each row of a matrix, as i32[in], as an order of rows in which each group has its block: NarrowMatrix::order.
std::vector<std::int64_t> order_of(const Tensor& groups, std::int64_t block, const std::string& name);
// Elements [first, first + count * stride) of floats; a value that is no number is one, too. Throws unsupported for other types.
void read_floats(const Tensor& from, std::int64_t first, std::int64_t stride, std::int64_t count, float* to);

}  // namespace tenfold::transformers
