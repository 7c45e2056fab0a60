// Weights of few bits: unsigned integers with a scale and a zero point for each group of a column. One file for each way to round them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quant/weights/moments.h"
#include "tenfold/tensor.h"

namespace tenfold::quant {

struct GroupForm {
  int bits = 4;               // 2 to 8
  std::int64_t group = 32;    // elements of a column that share a scale, one behind another; the last group may have fewer
  bool around_zero = false;   // the zero point of all groups is the middle, 2^(bits-1)
  DType scales = DType::f32;  // or f16 or bf16: the type in which they are written
  int largest() const { return (1 << bits) - 1; }
};

// Columns of a matrix, each as one piece.
struct Columns {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;   // finite
  std::span<const float> column(std::int64_t c) const {
    return std::span(values).subspan(static_cast<std::size_t>(c * rows), static_cast<std::size_t>(rows));
  }
};

struct GroupedWeights {
  std::int64_t rows = 0, columns = 0, groups = 0;
  std::vector<std::uint8_t> values;          // by column
  std::vector<float> scales;                 // of each column's groups
  std::vector<std::uint8_t> zeros;           // likewise
  double at(std::int64_t row, std::int64_t column, std::int64_t group) const;   // what an element stands for
};

// Scale and zero point of numbers: those of the least squared error, each number weighed, among ranges down to a half of theirs.
// `importance` is empty, or has a weight for each of them.
struct Steps {
  float scale = 1;
  int zero = 0;
  int level(double x, int largest) const;   // the nearest
};
Steps best_steps(std::span<const float> numbers, std::span<const double> importance, const GroupForm& form);

// The groups' scales, and no values yet.
GroupedWeights with_scales(const Columns& weights, std::span<const double> importance, const GroupForm& form);

// `importance`: of each row's errors, or empty.
GroupedWeights round_to_nearest(const Columns& weights, const GroupForm& form, std::span<const double> importance = {});

// GPTQ (Frantar 2023, arXiv 2210.17323): what rounding one element does to the products' results, those after it make good.
// `moments`: of the data's rows. Where no numbers come out of them, weights are rounded to the nearest.
GroupedWeights round_by_gptq(const Columns& weights, const Moments& moments, const GroupForm& form);

// AWQ: the weights of each row times a factor, by which its data have to be divided.
std::vector<float> awq_factors(const Moments& moments);
GroupedWeights round_by_awq(const Columns& weights, const Moments& moments, const GroupForm& form);

}  // namespace tenfold::quant
