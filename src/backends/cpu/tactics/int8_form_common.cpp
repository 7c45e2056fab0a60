// Recognises the usual ends of quantised products in their body: Int8Form.
#include "backends/cpu/tactics/int8_form_common.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tenfold::backends::cpu {
namespace {

enum class Shape { one, column, full, other };

// How an operand of the body broadcasts to the output.
Shape shape_of(const Problem& problem, int input, int channel_axis) {
  const OperandDesc& operand = problem.in[static_cast<std::size_t>(problem.anchor_inputs + input - 1)];
  const ir::Dims& out = problem.out[0].dims;
  if (!operand.dense || operand.dims.size() > out.size()) return Shape::other;
  const std::size_t lead = out.size() - operand.dims.size();
  bool one = true, column = true, full = lead == 0;
  for (std::size_t i = 0; i < operand.dims.size(); ++i) {
    const bool same = operand.dims[i] == out[lead + i];
    full = full && same;
    if (operand.dims[i] == ir::Dim(1)) continue;
    one = false;
    column = column && same && static_cast<int>(lead + i) == channel_axis;
  }
  if (one) return Shape::one;
  if (column) return Shape::column;
  return full && operand.layout == problem.out[0].layout ? Shape::full : Shape::other;
}

Int8Finish::Type finish_type(DType type) {
  return type == DType::u8 ? Int8Finish::u8 : type == DType::i8 ? Int8Finish::i8 : Int8Finish::f32;
}
bool finishable(DType type) { return type == DType::f32 || type == DType::u8 || type == DType::i8; }

// Follows the accumulator through the body, one instruction after the other.
class Matcher {
 public:
  Matcher(const Problem& problem, int channel_axis) : problem_(problem), body_(*problem.body), axis_(channel_axis) {}

  std::optional<Int8Form> match() {
    if (body_.outputs.size() != 1 || body_.reduced_rank != 0 || body_.inputs[0] != DType::i32) return {};
    if (!finishable(problem_.out[0].dtype)) return {};
    form_.finish.out_type = finish_type(problem_.out[0].dtype);
    form_.finish.low = form_.finish.low2 = 1;  // no clamp
    int current = 0;
    while (current != body_.outputs[0]) {
      const int next = only_user(current);
      if (next < 0) {
        current = take_gelu(current);
        if (current < 0) return {};
        continue;
      }
      if (!take(code(next), current)) return {};
      current = next;
    }
    const bool bytes = form_.finish.out_type != Int8Finish::f32;
    if (stage_ == last) return bytes ? std::nullopt : fold();
    if (bytes != (stage_ == saturated) || (bytes && saturated_to_ != problem_.out[0].dtype)) return {};
    if (!bytes && (stage_ < floating || stage_ >= divided)) return {};
    return fold();
  }

 private:
  enum Stage { integer, floating, scaled, biased, clamped, requantised, added, clamped2, divided, rounded, moved, saturated, recast, last };
  const ir::Instr& code(int value) const { return body_.code[static_cast<std::size_t>(value) - body_.inputs.size()]; }
  bool is_code(int value) const { return value >= static_cast<int>(body_.inputs.size()); }

  int only_user(int value) const {
    int user = -1;
    for (std::size_t i = 0; i < body_.code.size(); ++i) {
      const ir::Instr& instr = body_.code[i];
      const int n = ir::arity(instr.prim);
      const bool uses = (n > 0 && instr.a == value) || (n > 1 && instr.b == value) || (n > 2 && instr.c == value);
      if (!uses) continue;
      if (user >= 0) return -1;
      user = static_cast<int>(body_.inputs.size() + i);
    }
    return user;
  }
  std::optional<double> number(int value) const {
    if (!is_code(value)) return {};
    if (code(value).prim == ir::Prim::constant) return code(value).imm;
    if (code(value).prim == ir::Prim::cast) return number(code(value).a);
    return {};
  }
  // A factor or summand for whole columns: a number or a small operand.
  std::optional<Int8Form::Term> term(int value) const {
    if (const auto n = number(value)) return Int8Form::Term{-1, static_cast<float>(*n)};
    if (is_code(value) || value == 0 || body_.inputs[static_cast<std::size_t>(value)] != DType::f32) return {};
    const Shape shape = shape_of(problem_, value, axis_);
    if (shape != Shape::one && shape != Shape::column) return {};
    return Int8Form::Term{value, 1};
  }
  static bool append(Int8Form::Term* terms, int& count, const Int8Form::Term& t) {
    if (count == Int8Form::kMaxTerms) return false;
    terms[count++] = t;
    return true;
  }

  std::optional<Int8Form> fold() {
    if (gelu_ && (middle_ != 0 || form_.residual > 0)) return {};
    fold_scales();
    return form_;
  }

  // What every value gives if `leaf` is x; NaN where it needs anything else but numbers.
  std::vector<double> values_at(int leaf, double x) const {
    std::vector<double> v(body_.inputs.size() + body_.code.size(), std::nan(""));
    for (int i = leaf; i < static_cast<int>(v.size()); ++i) {
      const auto known = [&](int of) { return number(of).value_or(v[static_cast<std::size_t>(of)]); };
      double& to = v[static_cast<std::size_t>(i)];
      if (i == leaf) {
        to = x;
        continue;
      }
      switch (code(i).prim) {
        case ir::Prim::add: to = known(code(i).a) + known(code(i).b); break;
        case ir::Prim::mul: to = known(code(i).a) * known(code(i).b); break;
        case ir::Prim::div: to = known(code(i).a) / known(code(i).b); break;
        case ir::Prim::erf: to = std::erf(known(code(i).a)); break;
        default: break;
      }
    }
    return v;
  }
  // The first value that is the GELU of `x`, where nothing else uses x or what lies between; -1 if there is none.
  int take_gelu(int x) {
    const int end = static_cast<int>(body_.inputs.size() + body_.code.size());
    if (stage_ < floating || stage_ > biased || grid_ != 0 || !is_code(x)) return -1;
    std::vector<bool> fits(static_cast<std::size_t>(end), true);
    for (const double v : {-3.7, -2.1, -1.3, -0.4, 0.2, 0.9, 1.6, 2.8, 4.4}) {
      const std::vector<double> values = values_at(x, v);
      const double truth = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
      for (std::size_t i = 0; i < fits.size(); ++i) fits[i] = fits[i] && std::abs(values[i] - truth) <= 1e-6;
    }
    const int root = static_cast<int>(std::find(fits.begin(), fits.end(), true) - fits.begin());
    const auto between = [&](int value) { return value >= x && value < root && !number(value); };
    for (int i = root + 1; i < end; ++i) {
      const int n = ir::arity(code(i).prim);
      if ((n > 0 && between(code(i).a)) || (n > 1 && between(code(i).b)) || (n > 2 && between(code(i).c))) return -1;
    }
    gelu_ = true;
    stage_ = requantised;   // only a quantisation may follow
    return root < end ? root : -1;
  }

  // [mul by a number] [sub a number] [cast] of an operand as large as the output.
  bool take_residual(int value) {
    Int8Finish& f = form_.finish;
    if (is_code(value) && code(value).prim == ir::Prim::mul) {
      auto scale = number(code(value).b);
      const int rest = scale ? code(value).a : code(value).b;
      if (!scale) scale = number(code(value).a);
      if (!scale) return false;
      f.residual_scale = static_cast<float>(*scale);
      value = rest;
    }
    if (is_code(value) && code(value).prim == ir::Prim::sub && code(value).dtype == DType::f32) {
      const auto zero = number(code(value).b);
      if (!zero) return false;
      f.residual_zero = static_cast<float>(*zero);
      value = code(value).a;
    }
    if (is_code(value) && code(value).prim == ir::Prim::cast && code(value).dtype == DType::f32) value = code(value).a;
    if (is_code(value) || value == 0 || !finishable(body_.inputs[static_cast<std::size_t>(value)])) return false;
    if (shape_of(problem_, value, axis_) != Shape::full) return false;
    form_.residual = value;
    f.residual_type = finish_type(body_.inputs[static_cast<std::size_t>(value)]);
    return true;
  }

  bool take_clamp(const ir::Instr& instr, double bound) {
    const Stage to = stage_ >= added ? clamped2 : clamped;
    if (stage_ > to || stage_ < floating) return false;
    float& low = to == clamped ? form_.finish.low : form_.finish.low2;
    float& high = to == clamped ? form_.finish.high : form_.finish.high2;
    if (stage_ != to) {
      low = -std::numeric_limits<float>::infinity();
      high = std::numeric_limits<float>::infinity();
    }
    const auto value = static_cast<float>(bound);
    if (instr.prim == ir::Prim::max) {
      if (high < value) return false;  // an empty range: leave it to the executor
      low = std::max(low, value);
    } else {
      if (value < low) return false;
      high = std::min(high, value);
    }
    stage_ = to;
    return true;
  }

  bool take_divisor(double scale) {
    scale_ = static_cast<float>(scale);
    stage_ = divided;
    return scale > 0;
  }

  bool take(const ir::Instr& instr, int current) {
    const int other = ir::arity(instr.prim) == 2 ? (instr.a == current ? instr.b : instr.a) : -1;
    switch (instr.prim) {
      case ir::Prim::cast:
        if (instr.dtype != DType::f32 ||
            (stage_ != integer && (stage_ != saturated || (middle_ != 0 && form_.residual <= 0))))
          return false;
        stage_ = stage_ == integer ? floating : recast;
        return true;
      case ir::Prim::sub:  // dequantised again, with the same zero point
        if (stage_ != recast || centred_ || instr.a != current || number(instr.b) != static_cast<double>(form_.finish.out_zero))
          return false;
        centred_ = true;
        return true;
      case ir::Prim::mul: {
        if (stage_ == recast) return form_.residual > 0 ? take_last(number(other)) : take_middle(number(other));
        const auto t = term(other);
        if (!t) return false;
        if (stage_ == requantised && !begin_second()) return false;
        if (stage_ < floating || stage_ > scaled) return false;
        stage_ = scaled;
        Int8Form::Affine& to = grid_ != 0 ? form_.second : form_.first;
        return append(to.scales, to.scale_count, *t);
      }
      case ir::Prim::add: {
        if (stage_ < floating) return false;
        const auto t = term(other);
        if (stage_ == rounded || stage_ == divided) return take_zero(other);
        if (t) {
          if (stage_ == requantised && !begin_second()) return false;
          if (stage_ > biased) return false;
          stage_ = biased;
          Int8Form::Affine& to = grid_ != 0 ? form_.second : form_.first;
          return append(to.biases, to.bias_count, *t);
        }
        if (stage_ > requantised || !take_residual(other)) return false;
        stage_ = added;
        return true;
      }
      case ir::Prim::max:
      case ir::Prim::min: {
        const auto n = number(other);
        return n && take_clamp(instr, *n);
      }
      case ir::Prim::div: {
        const auto n = instr.a == current ? number(instr.b) : std::nullopt;
        return n && stage_ >= floating && stage_ < divided && take_divisor(*n);
      }
      case ir::Prim::round_even:
        if (stage_ != divided) return false;
        stage_ = rounded;
        return true;
      case ir::Prim::saturate:
        if (stage_ < divided || stage_ > moved || (instr.dtype != DType::u8 && instr.dtype != DType::i8)) return false;
        saturated_to_ = instr.dtype;
        stage_ = saturated;
        return true;
      default: return false;
    }
  }
  // What was quantised is dequantised with the same parameters: the result lies on a grid before a residual is added.
  bool take_middle(std::optional<double> scale) {
    Int8Finish& f = form_.finish;
    if (!scale || static_cast<float>(*scale) != scale_ || (f.out_zero != 0 && !centred_)) return false;
    middle_ = scale_;
    f.middle_low = (saturated_to_ == DType::i8 ? -128.0f : 0.0f) - f.out_zero;
    f.middle_high = (saturated_to_ == DType::i8 ? 127.0f : 255.0f) - f.out_zero;
    f.out_zero = 0;
    centred_ = false;
    stage_ = requantised;
    return true;
  }
  // The same at the very end: the result lies on a grid.
  bool take_last(std::optional<double> scale) {
    Int8Finish& f = form_.finish;
    if (!scale || static_cast<float>(*scale) != scale_ || (f.out_zero != 0 && !centred_)) return false;
    f.last_scale = scale_;
    last_low_ = (saturated_to_ == DType::i8 ? -128.0f : 0.0f) - f.out_zero;
    last_high_ = last_low_ + 255.0f;
    f.out_zero = 0;
    stage_ = last;
    return true;
  }
  // What lies on a grid is scaled and shifted again, as by a normalisation that was not folded: all before belongs to the first part.
  bool begin_second() {
    Int8Finish& f = form_.finish;
    if (grid_ != 0 || gelu_) return false;
    grid_ = middle_;
    f.grid_low = f.middle_low;
    f.grid_high = f.middle_high;
    if (f.low <= f.high) clamp_grid(f.low / grid_, f.high / grid_, f.grid_low, f.grid_high);
    f.low = 1, f.high = 0;
    middle_ = 0;
    centred_ = false;
    stage_ = floating;
    return true;
  }
  // Rounding keeps order: a clamp before it may as well follow it.
  static void clamp_grid(float least, float most, float& low, float& high) {
    low = std::max(low, std::nearbyint(least));
    high = std::max(std::min(high, std::nearbyint(most)), low);
  }
  // Zero points are added after rounding; without a rounding only an even one gives the same result for ties, so only zero is taken.
  bool take_zero(int other) {
    const auto n = number(other);
    if (!n || (stage_ == divided && *n != 0) || *n != static_cast<double>(static_cast<int>(*n)) || *n < -128 || *n > 255) return false;
    form_.finish.out_zero = static_cast<float>(*n);
    stage_ = moved;
    return true;
  }

  // Every value in units of the grid that it is rounded to next, so that no division is left. That differs from x / scale by an ulp
  // before it is rounded.
  void fold_scales() {
    Int8Finish& f = form_.finish;
    const float last = f.out_type == Int8Finish::f32 && f.last_scale == 0 ? 1 : 1 / scale_, next = middle_ != 0 ? 1 / middle_ : last;
    f.has_grid = grid_ != 0;
    form_.first.scale_unit = form_.first.bias_unit = gelu_ ? 1 : f.has_grid ? 1 / grid_ : next;
    if (gelu_) f.gelu_scale = last;
    form_.second.scale_unit = grid_ * next;
    form_.second.bias_unit = next;
    const bool clamps = f.low <= f.high;
    if (clamps) f.low *= next, f.high *= next;
    if (f.low2 <= f.high2) f.low2 *= last, f.high2 *= last;
    if (f.last_scale != 0) {
      float low = last_low_, high = last_high_;
      if (f.low2 <= f.high2) clamp_grid(f.low2, f.high2, low, high);
      f.low2 = low, f.high2 = high;
    }
    f.residual_scale *= last;
    f.middle_scale = middle_ * last;
    if (!clamps) return;
    if (middle_ != 0) {
      clamp_grid(f.low, f.high, f.middle_low, f.middle_high);
    } else if (form_.residual <= 0 && f.out_type != Int8Finish::f32) {
      f.low2 = f.low, f.high2 = f.high;
    } else {
      return;
    }
    f.low = 1, f.high = 0;
  }

  const Problem& problem_;
  const ir::Body& body_;
  int axis_;
  Stage stage_ = integer;
  DType saturated_to_ = DType::u8;
  bool centred_ = false, gelu_ = false;
  // Scales: of the last quantisation, of one before a residual, and of one before a second scale and bias; 0: none.
  float scale_ = 1, middle_ = 0, grid_ = 0, last_low_ = 0, last_high_ = 0;
  Int8Form form_;
};

}  // namespace

std::optional<Int8Form> recognise_int8_form(const Problem& problem, int channel_axis) {
  if (problem.body == nullptr || problem.out.size() != 1) return {};
  return Matcher(problem, channel_axis).match();
}

}  // namespace tenfold::backends::cpu
