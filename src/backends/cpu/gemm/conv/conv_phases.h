// A transposed convolution as convolutions of stride 1, one for each phase: outputs of the same remainder by the strides, which read the
// same taps.
//
// Dims may be merged: the phases of a merged dim are further columns of one GEMM. That reads the image once for all of them and fills
// vectors where filters are few, but multiplies by zero where a phase lacks a tap that another one has.
#pragma once

#include <functional>
#include <vector>

#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"

namespace tenfold::backends::cpu {

// Whether conv_phases computes it: constant weights, explicit pads, a result of the operator's own extents, any float type.
Verdict conv_phases_supported(const Problem& problem);

struct ConvPhase {
  ConvShape shape;       // of the convolution; its filters and width are those of the transposed one
  Three first{0, 0, 0};  // the output position of the convolution's position 0 in dims that are not merged
  bool empty = false;    // no tap reaches it: its sums are zero
};

class ConvPhases {
 public:
  ConvPhases() = default;
  ConvPhases(const Problem& problem, std::int64_t merged);  // bit d: dim d of three is merged

  const std::vector<ConvPhase>& phases() const { return phases_; }
  const Three& stride() const { return transposed_.stride; }
  const Three& columns() const { return columns_; }  // phases that are columns, by dim
  const ConvShape& transposed() const { return transposed_; }
  std::int64_t width() const { return columns_[0] * columns_[1] * columns_[2] * transposed_.width; }  // columns of a group's GEMM
  std::int64_t max_taps() const;
  // Multiplications of a group for each input position, where `lanes` columns cost as much as one.
  double cost(std::int64_t lanes) const;
  // How many positions of the convolutions make `out` outputs.
  Three grid(const Three& out) const;

  GemmF32Weights weights(const ConvPhase& phase, int panel, std::int64_t k_block) const;
  // Calls f(packed element, element of the weight [channels, filters of a group, taps]) for all elements of the packed weights of all
  // phases and groups that are not zero.
  void for_each_weight(int panel, std::int64_t k_block, const std::function<void(std::int64_t, std::int64_t)>& f) const;
  std::int64_t packed_floats(int panel, std::int64_t k_block) const;

 private:
  // The tap of the transposed kernel that tap `at` of a phase is for output phase `phase`, in one dim; -1: none.
  std::int64_t tap(std::size_t dim, const ConvPhase& of, std::int64_t at, std::int64_t phase) const;
  // Sets one dim of a convolution that makes output phases [phase, phase + count); false: no tap reaches them.
  bool set_dim(std::size_t dim, std::int64_t phase, std::int64_t count, ConvShape& shape) const;

  ConvShape transposed_;  // kernel, stride, dilation and begin of the transposed convolution
  Three columns_{1, 1, 1};
  std::vector<ConvPhase> phases_;
};

}  // namespace tenfold::backends::cpu
