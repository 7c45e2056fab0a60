// Recognizes the usual epilogues of quantized products in their body: Int8Form.
#include "backends/cpu/tactics/int8/int8_form_common.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/tactics/int8/int8_body_common.h"

namespace tenfold::backends::cpu {
namespace {

Int8Type epilogue_type(DType type) {
  return type == DType::u8 ? Int8Type::u8 : type == DType::i8 ? Int8Type::i8 : Int8Type::f32;
}
bool has_epilogue_type(DType type) { return type == DType::f32 || type == DType::u8 || type == DType::i8; }

// Follows the accumulator through the body, one instruction after the other.
class Matcher {
 public:
  Matcher(const Problem& problem, int channel_axis) : body_(problem, channel_axis), result_(problem.out[0].dtype) {}

  std::optional<Int8Form> match() {
    if (!has_epilogue_type(result_)) return {};
    form_.epilogue.result.type = epilogue_type(result_);
    int current = 0;
    while (current != body_.result()) {
      const int next = body_.only_user(current);
      if (next < 0) {
        current = take_gelu(current);
        if (current < 0) return {};
        continue;
      }
      if (!take(body_.code(next), current)) return {};
      current = next;
    }
    const bool bytes = form_.epilogue.result.type != Int8Type::f32;
    if (stage_ == last) return bytes ? std::nullopt : fold();
    if (bytes != (stage_ == saturated) || (bytes && saturated_to_ != result_)) return {};
    if (!bytes && (stage_ < floating || stage_ >= divided)) return {};
    return fold();
  }

 private:
  enum Stage { integer, floating, scaled, biased, clamped, requantized, added, clamped2, divided, rounded, moved, saturated, recast, last };
  static bool append(Int8Form::Term* terms, int& count, const Int8Form::Term& t) {
    if (count == Int8Form::kMaxTerms) return false;
    terms[count++] = t;
    return true;
  }

  std::optional<Int8Form> fold() {
    if (gelu_ && (middle_ != 0 || form_.residual > 0)) return {};
    const Int8EpilogueArgs& f = form_.epilogue;
    if (form_.rows > 0 && (f.result.type != Int8Type::f32 || grid_ != 0 || middle_ != 0)) return {};
    if (form_.rows > 0 && form_.residual > 0 && f.residual.type != Int8Type::f32) return {};
    fold_scales();
    return form_;
  }

  int take_gelu(int x) {
    const int root = stage_ < floating || stage_ > biased || grid_ != 0 ? -1 : body_.gelu_of(x);
    if (root < 0) return -1;
    gelu_ = true;
    stage_ = requantized;   // only a quantization may follow
    return root;
  }

  // [mul by a number] [sub a number] [cast] of an operand as large as the output.
  bool take_residual(int value) {
    Int8EpilogueArgs& f = form_.epilogue;
    if (body_.is_code(value) && body_.code(value).prim == ir::Prim::mul) {
      auto scale = body_.number(body_.code(value).b);
      const int rest = scale ? body_.code(value).a : body_.code(value).b;
      if (!scale) scale = body_.number(body_.code(value).a);
      if (!scale) return false;
      f.residual.scale = static_cast<float>(*scale);
      value = rest;
    }
    if (body_.is_code(value) && body_.code(value).prim == ir::Prim::sub && body_.code(value).dtype == DType::f32) {
      const auto zero = body_.number(body_.code(value).b);
      if (!zero) return false;
      f.residual.zero = static_cast<float>(*zero);
      value = body_.code(value).a;
    }
    if (body_.is_code(value) && body_.code(value).prim == ir::Prim::cast && body_.code(value).dtype == DType::f32)
      value = body_.code(value).a;
    if (body_.is_code(value) || value == 0 || !has_epilogue_type(body_.type_of(value))) return false;
    if (!body_.is_full(value)) return false;
    form_.residual = value;
    f.residual.type = epilogue_type(body_.type_of(value));
    return true;
  }

  bool take_clamp(const ir::Instr& instr, double bound) {
    const Stage to = stage_ >= added ? clamped2 : clamped;
    if (stage_ > to || stage_ < floating) return false;
    Int8Range& range = to == clamped ? form_.epilogue.clamp : form_.epilogue.result.clamp;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (stage_ != to) range = {-kInfinity, kInfinity};
    const auto value = static_cast<float>(bound);
    if (instr.prim == ir::Prim::max) {
      if (range.high < value) return false;  // an empty range: leave it to the executor
      range.low = std::max(range.low, value);
    } else {
      if (value < range.low) return false;
      range.high = std::min(range.high, value);
    }
    stage_ = to;
    return true;
  }

  bool take_rows(int factors) {
    if (stage_ < floating || stage_ > scaled || grid_ != 0 || form_.rows > 0 || !body_.is_row(factors)) return false;
    form_.rows = factors;
    stage_ = scaled;
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
      case ir::Prim::sub:  // dequantized again, with the same zero point
        if (stage_ != recast || centered_ || instr.a != current) return false;
        if (body_.number(instr.b) != static_cast<double>(form_.epilogue.result.zero)) return false;
        centered_ = true;
        return true;
      case ir::Prim::mul: {
        if (stage_ == recast) return form_.residual > 0 ? take_last(body_.number(other)) : take_middle(body_.number(other));
        const auto t = body_.term(other);
        if (!t) return take_rows(other);
        if (stage_ == requantized && !begin_second()) return false;
        if (stage_ < floating || stage_ > scaled) return false;
        stage_ = scaled;
        Int8Form::Affine& to = grid_ != 0 ? form_.second : form_.first;
        return append(to.scales, to.scale_count, *t);
      }
      case ir::Prim::add: {
        if (stage_ < floating) return false;
        const auto t = body_.term(other);
        if (stage_ == rounded || stage_ == divided) return take_zero(other);
        if (t) {
          if (stage_ == requantized && !begin_second()) return false;
          if (stage_ > biased) return false;
          stage_ = biased;
          Int8Form::Affine& to = grid_ != 0 ? form_.second : form_.first;
          return append(to.biases, to.bias_count, *t);
        }
        if (stage_ > requantized || !take_residual(other)) return false;
        stage_ = added;
        return true;
      }
      case ir::Prim::max:
      case ir::Prim::min: {
        const auto n = body_.number(other);
        return n && take_clamp(instr, *n);
      }
      case ir::Prim::div: {
        const auto n = instr.a == current ? body_.number(instr.b) : std::nullopt;
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
  // What was quantized is dequantized with the same parameters: the result lies on a grid before a residual is added.
  bool take_middle(std::optional<double> scale) {
    Int8EpilogueArgs& f = form_.epilogue;
    if (!scale || static_cast<float>(*scale) != scale_ || (f.result.zero != 0 && !centered_)) return false;
    middle_ = scale_;
    f.middle.low = (saturated_to_ == DType::i8 ? -128.0f : 0.0f) - f.result.zero;
    f.middle.high = (saturated_to_ == DType::i8 ? 127.0f : 255.0f) - f.result.zero;
    f.result.zero = 0;
    centered_ = false;
    stage_ = requantized;
    return true;
  }
  // The same at the very end: the result lies on a grid.
  bool take_last(std::optional<double> scale) {
    Int8EpilogueArgs& f = form_.epilogue;
    if (!scale || static_cast<float>(*scale) != scale_ || (f.result.zero != 0 && !centered_)) return false;
    f.result.grid_scale = scale_;
    last_.low = (saturated_to_ == DType::i8 ? -128.0f : 0.0f) - f.result.zero;
    last_.high = last_.low + 255.0f;
    f.result.zero = 0;
    stage_ = last;
    return true;
  }
  // What lies on a grid is scaled and shifted again, as by a normalization that was not folded: all before belongs to the first part.
  bool begin_second() {
    Int8EpilogueArgs& f = form_.epilogue;
    if (grid_ != 0 || gelu_) return false;
    grid_ = middle_;
    f.grid.range = f.middle;
    if (f.clamp.there()) clamp_grid({f.clamp.low / grid_, f.clamp.high / grid_}, f.grid.range);
    f.clamp = {};
    middle_ = 0;
    centered_ = false;
    stage_ = floating;
    return true;
  }
  // Rounding keeps order: a clamp before it may as well follow it.
  static void clamp_grid(Int8Range by, Int8Range& grid) {
    grid.low = std::max(grid.low, std::nearbyint(by.low));
    grid.high = std::max(std::min(grid.high, std::nearbyint(by.high)), grid.low);
  }
  // Zero points are added after rounding; without a rounding only an even one gives the same result for ties, so only zero is taken.
  bool take_zero(int other) {
    const auto n = body_.number(other);
    if (!n || (stage_ == divided && *n != 0) || *n != static_cast<double>(static_cast<int>(*n)) || *n < -128 || *n > 255) return false;
    form_.epilogue.result.zero = static_cast<float>(*n);
    stage_ = moved;
    return true;
  }

  // Every value in units of the grid that it is rounded to next, so that no division is left. That differs from x / scale by an ulp
  // before it is rounded.
  void fold_scales() {
    Int8EpilogueArgs& f = form_.epilogue;
    const float last = f.result.type == Int8Type::f32 && f.result.grid_scale == 0 ? 1 : 1 / scale_;
    const float next = middle_ != 0 ? 1 / middle_ : last;
    f.has_grid = grid_ != 0;
    form_.first.scale_unit = form_.first.bias_unit = f.has_grid ? 1 / grid_ : next;
    if (gelu_) f.gelu_scale = last;
    form_.second.scale_unit = grid_ * next;
    form_.second.bias_unit = next;
    const bool clamps = f.clamp.there();
    if (clamps) f.clamp.low *= next, f.clamp.high *= next;
    if (f.result.clamp.there()) f.result.clamp.low *= last, f.result.clamp.high *= last;
    if (f.result.grid_scale != 0) {
      Int8Range range = last_;
      if (f.result.clamp.there()) clamp_grid(f.result.clamp, range);
      f.result.clamp = range;
    }
    f.residual.scale *= last;
    f.middle_scale = middle_ * last;
    if (!clamps) return;
    if (middle_ != 0) {
      clamp_grid(f.clamp, f.middle);
    } else if (form_.residual <= 0 && f.result.type != Int8Type::f32) {
      f.result.clamp = f.clamp;
    } else {
      return;
    }
    f.clamp = {};
  }

  const Int8Body body_;
  const DType result_;
  Stage stage_ = integer;
  DType saturated_to_ = DType::u8;
  bool centered_ = false, gelu_ = false;
  // Scales: of the last quantization, of one before a residual, and of one before a second scale and bias; 0: none.
  float scale_ = 1, middle_ = 0, grid_ = 0;
  Int8Range last_;
  Int8Form form_;
};

}  // namespace

std::optional<Int8Form> recognize_int8_form(const Problem& problem, int channel_axis) {
  const ir::Body* body = problem.body;
  if (body == nullptr || problem.out.size() != 1 || body->outputs.size() != 1 || body->reduced_rank != 0 || body->inputs[0] != DType::i32)
    return {};
  return Matcher(problem, channel_axis).match();
}

}  // namespace tenfold::backends::cpu
