// The rule for f32 that nobody may round: every element within 1e-5 of the same computation with absolute values, in f64. For tests.
//
// What adds up nothing that cancels is held to 1e-5 of the element itself.
#pragma once

#include <set>
#include <string_view>

#include "backends/body_magnitude_for_tests.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold::backends::testing {

// Sums of products of their operands, and their means: the magnitude is what they make of absolute values.
inline const std::set<std::string_view> kSums = {
    "Conv", "ConvTranspose", "MatMul", "Gemm", "AveragePool", "GlobalAveragePool", "ReduceSum", "ReduceMean", "CumSum", "Col2Im",
    "ScatterElements", "ScatterND", "MaskedMean"};
inline const std::set<std::string_view> kNorms = {"LayerNormalization", "InstanceNormalization", "GroupNormalization", "GroupNormNhwc"};
// Recurrences, in which errors pass through gates time and again; places that are computed in f32, between which values are mixed; what
// turns and mixes by sines, or adds logarithms; several sums in one operator: held by the largest element alone.
inline const std::set<std::string_view> kNotHeld = {
    "LSTM", "GRU", "RNN", "RecurrentStack", "RecurrentInt8", "Resize", "GridSample", "DeformConv", "RoiAlign", "DFT", "STFT",
    "RotaryEmbedding", "ReduceLogSum", "ReduceLogSumExp", "SkipLayerNorm", "BatchNormalization", "ExpandDepthwise",
    "NormMatMul", "NormMatMulBlockScaled", "RotaryCacheUpdate"};

inline Tensor in_f64(const Tensor& t, bool absolute) {
  if (t.dtype() != DType::f32) return t;
  Tensor wide(DType::f64, t.shape());
  auto* to = static_cast<double*>(wide.mutable_raw());
  for (std::int64_t i = 0; i < t.size(); ++i) to[i] = absolute ? std::abs(t.as_double(i)) : t.as_double(i);
  return wide;
}

class Magnitudes {
 public:
  // By result; nothing for a problem that the rule does not hold, and empty where a result is left out or not f32.
  // `rounded`: also for one whose f32 may be rounded; its tactics are held to what they keep.
  static std::optional<std::vector<Held>> of(const ir::OpDef& op, const ir::Node& node, const std::vector<Tensor>& operands,
                                             const std::vector<bool>& missing, bool rounded = false) {
    if (kNotHeld.count(op.name)) return std::nullopt;
    if (node.numerics.allows(rounded ? ir::Rounding::bf16 : ir::Rounding::tf32)) return std::nullopt;
    for (const Tensor& t : operands)
      if (t.dtype() == DType::f16 || t.dtype() == DType::bf16 || t.dtype() == DType::f8e4m3fn) return std::nullopt;
    if (op.traits.region || op.scalar) return of_body(op, node, operands, missing);
    try {
      return of_operator(op, node, operands, missing);
    } catch (const Error&) {
      return std::nullopt;   // an operator that has f32 operands by definition
    }
  }

 private:
  using Values = std::vector<ops::RuntimeValue>;

  static std::optional<std::vector<Held>> of_body(const ir::OpDef& op, const ir::Node& node, const std::vector<Tensor>& operands,
                                                  const std::vector<bool>& missing) {
    if (node.body && !op.traits.region) return std::nullopt;
    if (std::find(missing.begin(), missing.end(), true) != missing.end()) return std::nullopt;
    const ir::Body body = op.traits.region ? *node.body : op.scalar(node);
    if (body.inputs.size() != operands.size()) return std::nullopt;
    Shape space;
    for (const Tensor& t : operands) {
      if (t.shape().size() > space.size()) space.insert(space.begin(), t.shape().size() - space.size(), 1);
      for (std::size_t d = 0; d < t.shape().size(); ++d) {
        std::int64_t& extent = space[space.size() - t.shape().size() + d];
        if (extent == 1) extent = t.shape()[d];
      }
    }
    if (element_count(space) == 0) return std::nullopt;
    std::optional<std::vector<Held>> held = BodyMagnitude::of(body, operands, space);
    if (!held) return held;
    held->resize(std::min(held->size(), node.outputs.size()));   // a case may ask for fewer than the body has
    for (std::size_t o = 0; o < held->size(); ++o)
      if (node.outputs[o]) shrink((*held)[o], *node.outputs[o], body.reduced_rank, space);
    return held;
  }
  // A result that has one number for each row.
  static void shrink(Held& h, const ir::Value& out, int reduced, const Shape& space) {
    std::int64_t row = 1;
    for (int d = 0; d < reduced; ++d) row *= space[space.size() - 1 - static_cast<std::size_t>(d)];
    if (element_count(ir::constants(out.dims())) == element_count(space)) return;
    Held few;
    for (std::size_t i = 0; i < h.value.size(); i += static_cast<std::size_t>(row))
      few.value.push_back(h.value[i]), few.magnitude.push_back(h.magnitude[i]);
    h = few;
  }

  static std::optional<std::vector<Held>> of_operator(const ir::OpDef& op, const ir::Node& node, const std::vector<Tensor>& operands,
                                                      const std::vector<bool>& missing) {
    if (node.body) return std::nullopt;
    Values exact, absolute;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      exact.push_back(missing[i] ? ops::RuntimeValue{} : ops::RuntimeValue{in_f64(operands[i], false)});
      absolute.push_back(missing[i] ? ops::RuntimeValue{} : ops::RuntimeValue{in_f64(operands[i], true)});
    }
    const Values values = ops::run_node(node, exact);
    std::vector<Held> all;
    for (const ops::RuntimeValue& v : values) all.push_back(held_by_itself(v));
    if (kSums.count(op.name)) {
      const Values sums = ops::run_node(node, absolute);
      for (std::size_t o = 0; o < all.size(); ++o) all[o].magnitude = held_by_itself(sums[o]).magnitude;
    }
    if (kNorms.count(op.name)) norm(op, node, exact, all);
    if (op.name == "LogSoftmax") log_softmax(std::get<Tensor>(exact[0]), all[0]);
    if (op.name == "FusedAttention") attention(node, exact, all[0]);
    return all;
  }
  static Held held_by_itself(const ops::RuntimeValue& value) {
    Held h;
    if (!std::holds_alternative<Tensor>(value)) return h;
    const Tensor& t = std::get<Tensor>(value);
    for (std::int64_t i = 0; i < t.size(); ++i) h.value.push_back(t.as_double(i)), h.magnitude.push_back(std::abs(t.as_double(i)));
    return h;
  }

  // (|x| + |mean|) / deviation |scale| + |bias|. Scale and bias, broadcast, are what the operator makes of them as a bias alone.
  static void norm(const ir::OpDef& op, const ir::Node& node, const Values& operands, std::vector<Held>& results) {
    const Tensor& x = std::get<Tensor>(operands[0]);
    const auto as_bias = [&](std::size_t k) {
      Values only = operands;
      Tensor none(DType::f64, std::get<Tensor>(operands[1]).shape()), bias = std::get<Tensor>(operands[k]);
      only.resize(2), only[1] = none, only.push_back(in_absolute(bias));
      return std::get<Tensor>(ops::run_node(node, only)[0]);
    };
    const Tensor scale = as_bias(1);
    const bool biased = operands.size() > 2 && std::holds_alternative<Tensor>(operands[2]);
    const Tensor bias = biased ? as_bias(2) : Tensor(DType::f64, x.shape());
    const Shape& s = x.shape();
    const std::int64_t rank = static_cast<std::int64_t>(s.size()), axis = node.attributes.integer("axis", -1);
    std::int64_t rows = op.name == "LayerNormalization"
                            ? element_count(std::span(s).first(static_cast<std::size_t>(axis < 0 ? axis + rank : axis)))
                        : op.name == "InstanceNormalization" ? s[0] * s[1]
                                                             : s[0] * node.attributes.integer("num_groups");
    const std::int64_t length = rows > 0 ? x.size() / rows : 0;
    for (std::int64_t r = 0; r < rows && length > 0; ++r) {
      double mean = 0, size = 0, squares = 0;
      for (std::int64_t i = r * length; i < (r + 1) * length; ++i) {
        mean += x.as_double(i) / static_cast<double>(length);
        size += std::abs(x.as_double(i)) / static_cast<double>(length);
      }
      if (results.size() > 1) results[1].magnitude[static_cast<std::size_t>(r)] = size;   // the mean, a result of its own
      for (std::int64_t i = r * length; i < (r + 1) * length; ++i)
        squares += (x.as_double(i) - mean) * (x.as_double(i) - mean) / static_cast<double>(length);
      const double inverse = 1 / std::sqrt(squares + node.attributes.number("epsilon", 1e-5));
      for (std::int64_t i = r * length; i < (r + 1) * length; ++i)
        results[0].magnitude[static_cast<std::size_t>(i)] =
            (std::abs(x.as_double(i)) + std::abs(mean)) * inverse * scale.as_double(i) + bias.as_double(i);
    }
  }
  static Tensor in_absolute(const Tensor& t) {
    Tensor all(DType::f64, t.shape());
    for (std::int64_t i = 0; i < t.size(); ++i) static_cast<double*>(all.mutable_raw())[i] = std::abs(t.as_double(i));
    return all;
  }
  // x less the largest element and less the logarithm of the sum.
  static void log_softmax(const Tensor& x, Held& y) {
    double max = 0;
    for (std::int64_t i = 0; i < x.size(); ++i)
      if (std::isfinite(x.as_double(i))) max = std::max(max, std::abs(x.as_double(i)));
    for (double& m : y.magnitude) m += max + 1;
  }
  // The weighted sum of absolute values; an error of a score is one of its weight.
  static void attention(const ir::Node& node, const Values& operands, Held& y) {
    Values positive = operands;
    positive[2] = in_absolute(std::get<Tensor>(operands[2]));
    const Tensor sum = std::get<Tensor>(ops::run_node(node, positive)[0]);
    const auto largest = [](const Tensor& t) {
      double max = 0;
      for (std::int64_t i = 0; i < t.size(); ++i) max = std::max(max, std::abs(t.as_double(i)));
      return max;
    };
    const Tensor &q = std::get<Tensor>(operands[0]), &k = std::get<Tensor>(operands[1]);
    const double score = largest(q) * largest(k) * static_cast<double>(q.shape().back()) * std::abs(node.attributes.number("scale", 1));
    for (std::size_t i = 0; i < y.magnitude.size(); ++i) y.magnitude[i] = sum.as_double(static_cast<std::int64_t>(i)) * (1 + score);
  }
};

// The first element that breaks the rule, in words, or nothing. `held` counts those that were compared.
inline std::string beyond_magnitude(const Tensor& got, const Held& expected, std::int64_t& held, double part = 1e-5) {
  constexpr double kMin = 0x1p-126, kMax = 3e38;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double value = expected.value[static_cast<std::size_t>(i)], magnitude = expected.magnitude[static_cast<std::size_t>(i)];
    if (!(std::abs(value) < kMax) || !(magnitude < kMax)) continue;   // f32 holds no such
    ++held;
    const double error = std::abs(got.as_double(i) - value);
    if (error <= part * magnitude + kMin) continue;
    return cat("element ", i, ": ", got.as_double(i), " instead of ", value, ", which is ", error / magnitude, " of the magnitude ",
               magnitude);
  }
  return "";
}

}  // namespace tenfold::backends::testing
