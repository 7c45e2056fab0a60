// Copies are the identity on unsigned integers of the elements' size.
#include "backends/cuda/tactics/copy_common.h"

#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

DType raw_type(DType dtype) {
  switch (bits(dtype)) {
    case 8: return DType::u8;
    case 16: return DType::u16;
    case 32: return DType::u32;
    case 64: return DType::u64;
    default: return dtype;  // can_generate() refuses it
  }
}
OperandDesc raw(OperandDesc o) {
  o.dtype = raw_type(o.dtype);
  return o;
}

ElementsProblem problem(const OperandDesc& from, const OperandDesc& to, const ir::SymbolBounds* box) {
  ir::Body identity;
  identity.inputs = {from.dtype};
  identity.outputs = {0};
  return {std::move(identity), to.dims, {&from}, {&to}, box};
}

}  // namespace

Verdict can_copy(const OperandDesc& from, const OperandDesc& to, const ir::SymbolBounds* box) {
  if (to.dims.size() > kMaxDims || from.dims.size() > kMaxDims) return Verdict::no("too many dims");
  const OperandDesc a = raw(from), b = raw(to);
  return can_generate(problem(a, b, box));
}
std::unique_ptr<OpenElements> open_copy(const OperandDesc& from, const OperandDesc& to, const Problem& p, Opening& opening) {
  const OperandDesc a = raw(from), b = raw(to);
  return std::make_unique<OpenElements>(problem(a, b, p.box), *p.device, opening);
}
Status::Code run_copy(const OpenElements& copy, const Queue& queue, const Bound& from, const Bound& to) noexcept {
  const Bound* operands[] = {&from, &to};
  return copy.run(queue, to.dims, operands);
}

OperandDesc strided(OperandDesc operand) {
  if (operand.dense) operand.strides = strides(operand.layout, operand.dims);
  operand.dense = false;
  operand.layout = kPlain;
  return operand;
}

std::vector<Formats> same_layouts(const Problem& p) {
  std::vector<Formats> all;
  for (Layout layout : {kPlain, kChannelsLast}) {
    if (layout != kPlain && p.out[0].dims.size() < 3) continue;
    all.push_back({std::vector<Layout>(p.in.size(), layout), std::vector<Layout>(p.out.size(), layout)});
  }
  return all;
}

}  // namespace tenfold::backends::cuda
