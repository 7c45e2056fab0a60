// What follows a product that oneDNN computes: its own bias and clamping where that is all, else our epilogue over each part.
#pragma once

#include "backends/cpu/onednn/product.h"
#include "backends/cpu/tactics/epilogue_common.h"

namespace tenfold::backends::cpu {

class OnednnEnd {
 public:
  static Verdict supports(const Problem& problem, int channel_axis, int own_bias = -1);

  OnednnEnd() = default;
  OnednnEnd(const Problem& problem, int channel_axis, int own_bias = -1);
  std::optional<onednn::Clamp> clamp() const { return clamp_; }
  bool has_bias() const { return bias_ >= 0; }
  std::int64_t scratch_bytes() const { return after_ ? epilogue_.scratch_bytes() : 0; }

  struct Binding {
    const float* bias = nullptr;
    Epilogue::Binding epilogue;
  };
  void bind(const RunArgs& args, const TileAxes& axes, Binding& binding) const noexcept;
  // Rows of the output that a part has left in memory, all columns.
  void apply(const Binding& binding, std::int64_t row, std::int64_t rows, std::int64_t columns, const float* sums,
             void* scratch) const noexcept {
    if (after_) epilogue_.apply(binding.epilogue, row, rows, 0, columns, sums, columns, scratch);
  }

 private:
  int bias_ = -1;
  std::optional<onednn::Clamp> clamp_;
  bool after_ = false;
  Epilogue epilogue_;
};

// Numbers of parts worth timing: those that leave each at least `least` of `rows`.
std::vector<Config> onednn_configs(std::int64_t rows, std::int64_t least);

}  // namespace tenfold::backends::cpu
