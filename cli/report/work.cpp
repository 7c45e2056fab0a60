// FLOPs and bytes by operator.
#include "report/work.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tenfold::cli {
namespace {

using Count = std::optional<std::int64_t>;

Count times(Count a, Count b) {
  std::int64_t r;
  return a && b && !__builtin_mul_overflow(*a, *b, &r) ? Count(r) : Count();
}
Count plus(Count a, Count b) {
  std::int64_t r;
  return a && b && !__builtin_add_overflow(*a, *b, &r) ? Count(r) : Count();
}

Count elements(const WorkOperand& o) {
  if (!o.shape) return {};
  Count n = 1;
  for (const std::int64_t extent : *o.shape) n = extent < 0 ? Count() : times(n, extent);
  return n;
}

// An extent from the front, or with a negative number from the back.
Count dim(const WorkStep& step, std::size_t operand, int axis) {
  if (operand >= step.inputs.size() || !step.inputs[operand].shape) return {};
  const Shape& shape = *step.inputs[operand].shape;
  const int at = axis < 0 ? axis + static_cast<int>(shape.size()) : axis;
  return at >= 0 && at < static_cast<int>(shape.size()) ? Count(shape[static_cast<std::size_t>(at)]) : Count();
}

bool says(const WorkStep& step, std::string_view attribute) { return step.attributes.find(attribute) != std::string::npos; }

// y[..., n] = x[..., k] * w[k, n]
Count product(const WorkStep& step, bool transposed) {
  return times(times(2, elements(step.outputs[0])), dim(step, 0, transposed ? -2 : -1));
}

// Each result is a sum over one filter, which has 1/filters of the weights.
Count convolution(const WorkStep& step) {
  const Count filters = dim(step, 1, 0);
  if (step.inputs.size() < 2 || !filters || *filters < 1) return {};
  const Count weights = elements(step.inputs[1]);
  return weights ? times(times(2, elements(step.outputs[0])), *weights / *filters) : Count();
}

// Each element of the input meets all weights of its group's channel.
Count transposed_convolution(const WorkStep& step) {
  const Count channels = dim(step, 1, 0);
  if (step.inputs.size() < 2 || !channels || *channels < 1) return {};
  const Count weights = elements(step.inputs[1]);
  return weights ? times(times(2, elements(step.inputs[0])), *weights / *channels) : Count();
}

// q [B, H, S, D], k [B, G, T, D], v [B, G, T, V]: 2 S T (D + V) for each head.
Count attention(const WorkStep& step) {
  const bool packed = step.inputs.size() > 4 && step.inputs[4].present;  // each row meets those of its sentence alone, which are data
  if (step.inputs.size() < 3 || packed || !step.inputs[0].shape || step.inputs[0].shape->size() != 4) return {};
  const Count heads = times(dim(step, 0, 0), dim(step, 0, 1)), pairs = times(dim(step, 0, 2), dim(step, 1, 2));
  return times(times(2, times(heads, pairs)), plus(dim(step, 0, 3), dim(step, 2, 3)));
}

// x [time, batch, input], w [directions, gates * hidden, input], r [directions, gates * hidden, hidden].
Count recurrent(const WorkStep& step) {
  if (step.inputs.size() < 3) return {};
  const Count weights = plus(elements(step.inputs[1]), elements(step.inputs[2]));
  return times(times(2, weights), times(dim(step, 0, 0), dim(step, 0, 1)));
}

Count product_rows(const WorkStep& step) { return product(step, false); }
Count gemm(const WorkStep& step) { return product(step, says(step, "transA=1")); }
Count unknown(const WorkStep&) { return {}; }

struct Row {
  std::string_view op;
  Count (*flops)(const WorkStep&);
};
constexpr std::array kRows{Row{"MatMul", product_rows}, Row{"MatMulInteger", product_rows}, Row{"MatMulFloat8", product_rows},
                           Row{"GemmLayerNorm", product_rows}, Row{"NormGemm", product_rows}, Row{"Gemm", gemm}, Row{"Conv", convolution},
                           Row{"ConvInteger", convolution}, Row{"ConvFloat8", convolution},
                           Row{"ConvTranspose", transposed_convolution}, Row{"FusedAttention", attention},
                           Row{"RNN", recurrent}, Row{"GRU", recurrent}, Row{"LSTM", recurrent},
                           // Their shapes alone do not say it here.
                           Row{"ConvMaxPool", unknown}, Row{"ExpandDepthwise", unknown}, Row{"GemmRowStats", unknown},
                           Row{"Attention", unknown}, Row{"AttentionFloat8", unknown}, Row{"Einsum", unknown}, Row{"DeformConv", unknown},
                           Row{"RecurrentInt8", unknown}, Row{"RecurrentStack", unknown}};

// They read as much of their first operand as they give.
bool reads_part(std::string_view op) {
  static constexpr std::array kOps{std::string_view("Gather"), std::string_view("GatherElements"), std::string_view("GatherND"),
                                   std::string_view("Slice")};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

}  // namespace

std::optional<std::int64_t> bytes_of(const WorkOperand& operand) {
  if (!operand.present) return 0;
  if (operand.stored >= 0) return operand.stored;
  const Count n = elements(operand);
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;  // byte_size() throws on overflow
  return n && *n < kMaxElements ? Count(byte_size(operand.dtype, *n)) : Count();
}

std::optional<std::int64_t> bytes_moved(const WorkStep& step) {
  Count written = 0, read = 0;
  for (const WorkOperand& o : step.outputs) written = plus(written, bytes_of(o));
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    Count bytes = bytes_of(step.inputs[i]);
    if (i == 0 && reads_part(step.op)) bytes = bytes && written ? Count(std::min(*bytes, *written)) : written;
    read = plus(read, bytes);
  }
  return plus(read, written);
}

std::optional<std::int64_t> flops_of(const WorkStep& step) {
  if (step.outputs.empty()) return 0;
  for (const Row& row : kRows)
    if (row.op == step.op) return row.flops(step);
  if (step.op.find('.') != std::string::npos) return {};  // a plug-in's, of which nothing is known
  return 0;
}

}  // namespace tenfold::cli
