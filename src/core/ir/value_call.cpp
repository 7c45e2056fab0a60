// Calls of kernels: what they refuse, and checked access to whole operands.
#include "ir/op_def.h"

namespace tenfold::ir {

namespace {
std::string reported(const Node& node, const std::string& why) { return cat(node.op(), " node '", node.name, "': ", why); }
}  // namespace

void refuse_run(ErrorKind kind, const Node& node, const std::string& why) { fail(kind, reported(node, why)); }
void refuse_index(const Node& node, const std::string& why) { throw IndexFault(Error(ErrorKind::invalid_argument, reported(node, why))); }

const RuntimeValue& ValueCall::in(int i) const {
  check_shape(i < inputs(), "operand ", i, " is missing");
  return in_[static_cast<std::size_t>(i)];
}

const Tensor& ValueCall::tensor(int i) const {
  const RuntimeValue& value = in(i);
  check_shape(value.is_tensor(), "operand ", i, " is ", value.text(), ", a tensor expected");
  return std::get<Tensor>(value);
}

const std::vector<std::string>& ValueCall::strings(int i) const {
  const Tensor& t = tensor(i);
  check_shape(t.dtype() == DType::string, "operand ", i, " is ", in(i).text(), ", strings expected");
  return t.string_values();
}

const std::vector<RuntimeValue>& ValueCall::elements(int i) const {
  const RuntimeValue& value = in(i);
  check_shape(value.is_sequence(), "operand ", i, " is ", value.text(), ", a sequence expected");
  return value.elements();
}

std::int64_t ValueCall::integer(int i) const {
  const Tensor& t = tensor(i);
  check_shape(t.size() == 1 && is_integer(t.dtype()), "operand ", i, " is ", in(i).text(), ", one integer expected");
  return t.as_int(0);
}

void ValueCall::give(int o, RuntimeValue value) {
  if (o < static_cast<int>(out_.size())) out_[static_cast<std::size_t>(o)] = std::move(value);
}

}  // namespace tenfold::ir
