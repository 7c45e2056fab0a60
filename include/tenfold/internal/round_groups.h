// Weights of few bits by what data they meet: the rounding methods of tenfold quantize, for libraries on public headers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

namespace quant { class Moments; }

// The sums of x[i] x[j] over all rows x that a product multiplies: what an error of its weights costs.
class TENFOLD_API DataMoments {
 public:
  explicit DataMoments(std::int64_t size);
  void add(const float* rows, std::int64_t count);             // [count, size]
  std::int64_t size() const;
  double own(std::int64_t i) const;                            // of element i with itself
  DataMoments divided(const std::vector<float>& by) const;     // of data of which each element was divided so
  // The sum of the squares of what the columns give with these data; each has size() values, one column behind another.
  double squares(std::span<const float> columns) const;
  const quant::Moments& all() const { return *moments_; }      // for the builder

 private:
  explicit DataMoments(std::shared_ptr<quant::Moments> moments);
  std::shared_ptr<quant::Moments> moments_;
};

// Symmetric steps: (value - 2^(bits-1)) * scale.
struct RoundingForm {
  int bits = 4;
  std::int64_t group = 32;     // neighbors in a column that share a scale
  DType scales = DType::f32;   // the type in which they are written: f32, f16 or bf16
};
struct RoundedColumns {
  std::vector<std::uint8_t> values;   // column by column
  std::vector<float> scales;          // of each column's groups, likewise
};

// Columns of `moments.size()` finite values, one behind another. Scales are those of the least squared error, where each row's error
// counts as its data do, so that values beyond them are cut. gptq: Frantar 2023, arXiv 2210.17323.
TENFOLD_API RoundedColumns round_columns_to_nearest(std::span<const float> columns, const DataMoments& moments, const RoundingForm& form);
TENFOLD_API RoundedColumns round_columns_by_gptq(std::span<const float> columns, const DataMoments& moments, const RoundingForm& form);

}  // namespace tenfold
