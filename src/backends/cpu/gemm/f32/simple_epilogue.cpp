// Recognition of simple epilogues.
#include "backends/cpu/gemm/f32/simple_epilogue.h"

#include <algorithm>

namespace tenfold::backends::cpu {
namespace {

using ir::Instr;
using ir::Prim;

// Follows the one value that runs from the anchor's sum to the output, instruction by instruction.
class Recognizer {
 public:
  Recognizer(const Problem& problem, int channel_axis, DType type) : problem_(problem), channel_axis_(channel_axis), type_(type) {}

  bool run() {
    const ir::Body& body = *problem_.body;
    if (body.outputs.size() != 1 || body.reduced_rank != 0 || body.inputs[0] != type_) return false;
    std::uint16_t value = 0;
    for (std::size_t i = 0; i < body.code.size(); ++i) {
      const Instr& instr = body.code[i];
      if (instr.prim == Prim::constant) continue;
      if (instr.dtype != type_ || !step(instr, value)) return false;
      value = static_cast<std::uint16_t>(body.inputs.size() + i);
    }
    return body.outputs[0] == value;
  }
  SimpleEpilogue form;

 private:
  bool step(const Instr& instr, std::uint16_t value) {
    if (ir::arity(instr.prim) != 2 || (instr.a == value) == (instr.b == value)) return false;
    const std::uint16_t other = instr.a == value ? instr.b : instr.a;
    switch (instr.prim) {
      case Prim::add: return add(other);
      case Prim::max: return bound(other, true);
      case Prim::min: return bound(other, false);
      default: return false;
    }
  }

  const OperandDesc* operand(std::uint16_t value, int& index) const {
    if (value == 0 || value >= problem_.body->inputs.size()) return nullptr;
    index = problem_.anchor_inputs + value - 1;
    const OperandDesc& o = problem_.in[static_cast<std::size_t>(index)];
    return o.missing || !o.dense || o.dtype != type_ ? nullptr : &o;
  }

  bool add(std::uint16_t value) {
    int index = -1;
    const OperandDesc* o = operand(value, index);
    if (o == nullptr || form.clamp) return false;
    if (per_channel(*o)) return take(form.bias, index);
    const OperandDesc& out = problem_.out[0];
    return o->dims == out.dims && o->layout == out.layout && take(form.residual, index);
  }
  static bool take(int& slot, int index) { return slot < 0 && (slot = index, true); }

  bool per_channel(const OperandDesc& o) const {
    const ir::Dims& out = problem_.out[0].dims;
    const int shift = static_cast<int>(out.size()) - static_cast<int>(o.dims.size());
    if (channel_axis_ < shift) return false;
    for (std::size_t i = 0; i < o.dims.size(); ++i) {
      const bool channel = static_cast<int>(i) + shift == channel_axis_;
      if (o.dims[i] != (channel ? out[static_cast<std::size_t>(channel_axis_)] : ir::Dim(1))) return false;
    }
    return true;
  }

  bool bound(std::uint16_t value, bool lower) {
    const ir::Body& body = *problem_.body;
    int& slot = lower ? form.low_operand : form.high_operand;
    if (value >= body.inputs.size()) {
      if (form.low_operand >= 0 || form.high_operand >= 0) return false;
      const Instr& c = body.code[value - body.inputs.size()];
      if (c.prim != Prim::constant) return false;
      tighten(static_cast<float>(c.imm), lower, form.low, form.high);
    } else {
      int index = -1;
      const OperandDesc* o = operand(value, index);
      if (o == nullptr || std::any_of(o->dims.begin(), o->dims.end(), [](ir::Dim d) { return d != ir::Dim(1); })) return false;
      if (slot >= 0 || (lower && form.high_operand >= 0)) return false;  // the order that binding keeps: low, then high
      slot = index;
    }
    return form.clamp = true;
  }

  const Problem& problem_;
  int channel_axis_;
  DType type_;
};

}  // namespace

std::optional<SimpleEpilogue> simple_epilogue(const Problem& problem, int channel_axis, DType type) {
  if (problem.out.size() != 1 || problem.out[0].dtype != type) return std::nullopt;
  if (problem.body == nullptr) return SimpleEpilogue{};
  Recognizer recognizer(problem, channel_axis, type);
  if (!recognizer.run()) return std::nullopt;
  return recognizer.form;
}

void tighten(float bound, bool lower, float& low, float& high) {
  low = lower ? std::max(low, bound) : std::min(low, bound);
  high = lower ? std::max(high, bound) : std::min(high, bound);
}

}  // namespace tenfold::backends::cpu
