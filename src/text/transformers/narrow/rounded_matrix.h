// The matrix of a linear layer while it is made narrow: steps by output, which layouts of folders and networks are written from.
#pragma once

#include <cstdint>
#include <vector>

#include "text/transformers/narrow/narrow_weights.h"

namespace tenfold::transformers {

// Symmetric about half of the range, 2^(bits-1); or e2m1.
struct RoundedMatrix {
  int bits = 4;
  std::int64_t in = 0, out = 0, block = 0;   // inputs, outputs, inputs that share a scale; blocks divide the inputs
  DType scale_type = DType::f32;             // the folder's, to which scales are rounded already
  Fp4 fp4 = Fp4::none;
  float global = 1;                          // of fp4: what the scales' codes are divided by
  std::vector<std::uint8_t> values;          // [out, in]
  std::vector<float> scales;                 // [out, blocks]
  std::vector<std::uint8_t> scale_codes = {};  // of fp4, as they are written
  std::int64_t blocks() const { return (in + block - 1) / block; }
  float at(std::int64_t output, std::int64_t input) const;   // what a step stands for
};

// The floats of a layer as [out, in]. Throws invalid_model where one is no finite number.
std::vector<float> matrix_of(const Tensor& floats, const LinearLayer& layer);
// The nearest steps, where a group's largest value is half a step from the end of the range.
RoundedMatrix round_to_range(const std::vector<float>& matrix, const LinearLayer& layer, const NarrowForm& form, DType scale_type);
// The same as e2m1, whose scales have types of their own.
RoundedMatrix round_to_fp4(const std::vector<float>& matrix, const LinearLayer& layer, const NarrowForm& form);
double relative_error(const std::vector<float>& matrix, const RoundedMatrix& rounded);   // of all weights
NarrowMatrix narrow_matrix(const RoundedMatrix& rounded);   // as networks take it
NarrowMatrix compressed_fp4(const Weights& weights, const LinearLayer& layer, Fp4 kind);  // of a folder of compressed-tensors

}  // namespace tenfold::transformers
