// ValueCall: checked access to whole operands.
#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::ir {

const RuntimeValue& ValueCall::in(int i) const {
  require(i < inputs(), ErrorKind::invalid_argument, "operand ", i, " of ", node_.op(), " is missing");
  return in_[static_cast<std::size_t>(i)];
}

const Tensor& ValueCall::tensor(int i) const {
  const RuntimeValue& value = in(i);
  require(value.is_tensor(), ErrorKind::invalid_argument, "operand ", i, " of ", node_.op(), " is ", value.text(), ", a tensor expected");
  return std::get<Tensor>(value);
}

const std::vector<std::string>& ValueCall::strings(int i) const {
  const Tensor& t = tensor(i);
  require(t.dtype() == DType::string, ErrorKind::invalid_argument, "operand ", i, " of ", node_.op(), " is ", in(i).text(),
          ", strings expected");
  return t.string_values();
}

const std::vector<RuntimeValue>& ValueCall::elements(int i) const {
  const RuntimeValue& value = in(i);
  require(value.is_sequence(), ErrorKind::invalid_argument, "operand ", i, " of ", node_.op(), " is ", value.text(),
          ", a sequence expected");
  return value.elements();
}

std::int64_t ValueCall::integer(int i) const {
  const Tensor& t = tensor(i);
  require(t.size() == 1 && is_integer(t.dtype()), ErrorKind::invalid_argument, "operand ", i, " of ", node_.op(), " is ", in(i).text(),
          ", one integer expected");
  return t.as_int(0);
}

void ValueCall::give(int o, RuntimeValue value) {
  if (o < static_cast<int>(out_.size())) out_[static_cast<std::size_t>(o)] = std::move(value);
}

}  // namespace tenfold::ir
