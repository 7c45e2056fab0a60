// What the oneDNN tactics share: all but the shape of the product. What follows a product is oneDNN's own bias and clamping where
// that is all, else our epilogue over each part.
#pragma once

#include "backends/cpu/gemm/f32/f32_epilogue.h"
#include "backends/cpu/onednn/matmul.h"

namespace tenfold::backends::cpu {

class OnednnEpilogue {
 public:
  static Verdict supports(const Problem& problem, int channel_axis, int own_bias);

  OnednnEpilogue() = default;
  OnednnEpilogue(const Problem& problem, int channel_axis, int own_bias);
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

// A problem as oneDNN gets it. Its extents are constants; operand 1 holds the weights.
struct OnednnForm {
  std::shared_ptr<const onednn::Product> (*make)(const Problem& problem, std::int64_t parts, const OnednnEpilogue& epilogue) = nullptr;
  int channel_axis = 1, own_bias = -1;
  std::int64_t rows = 1, min_rows = 1;              // what is cut into parts, and how many of them are worth one
  std::int64_t images = 1, x_image = 0, y_image = 0;  // products that follow each other, and the elements between them
  std::int64_t columns = 1, row_positions = 1;        // of the result; how many of its rows one of `rows` is
  bool channels_last = false;
};
using OnednnFormOf = OnednnForm (*)(const Problem& problem);

// The part of supports() that follows once the form is known to make sense.
Verdict onednn_supports(const Problem& problem, const OnednnForm& form);
// The fields that are alike; each of its functions asks `form_of` again, which reads a problem that supports() took.
template <OnednnFormOf form_of>
void fill_onednn(Tactic& tactic);

std::vector<Config> onednn_configs(const OnednnForm& form);
Verdict onednn_valid(const Problem& problem, const OnednnForm& form, const Config& config);
// The product of a problem; this thread keeps the last one, since a step asks for its size, its packing and its kernel in turn.
std::shared_ptr<const onednn::Product> onednn_matmul(const Problem& problem, const OnednnForm& form, std::int64_t parts);
std::shared_ptr<const void> onednn_open(const Problem& problem, const OnednnForm& form, const Config& config);
ir::Dim onednn_scratch(const Problem& problem, const OnednnForm& form, const Config& config);
Tensor onednn_unpack(const Problem& problem, const OnednnForm& form, const Config& config, const void* packed);
Status::Code onednn_run(const void* self, const RunArgs& args) noexcept;

template <OnednnFormOf form_of>
void fill_onednn(Tactic& t) {
  t.source = Source::onednn;
  t.configs = [](const Problem& p) { return onednn_configs(form_of(p)); };
  t.valid = [](const Problem& p, const Config& c) { return onednn_valid(p, form_of(p), c); };
  t.worker_scratch = [](const Problem& p, const Config& c) { return onednn_scratch(p, form_of(p), c); };
  t.packed_bytes = [](const Problem& p, const Config& c, int input) {
    return input == 1 ? onednn_matmul(p, form_of(p), c[0])->weight_bytes() : std::int64_t{-1};
  };
  t.pack = [](const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
    onednn_matmul(p, form_of(p), c[0])->pack(constants[1]->data<float>(), packed);
  };
  t.unpack = [](const Problem& p, const Config& c, int, const void* packed) { return onednn_unpack(p, form_of(p), c, packed); };
  t.open = [](const Problem& p, const Config& c, Opening&) { return onednn_open(p, form_of(p), c); };
  t.run = onednn_run;
}

}  // namespace tenfold::backends::cpu
