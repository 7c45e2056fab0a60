#include "runtime/step_fault.h"

#include "base/check.h"
#include "base/types/element.h"
#include "ir/fault.h"
#include "runtime/context.h"

namespace tenfold::runtime {
namespace {

constexpr std::int64_t kShort = 8;

void keep(ContextState& c, const char* words) noexcept {
  try {
    c.run.last_error = words;
  } catch (...) {
    c.run.last_error.clear();
  }
}

bool is_short(const plan::Operand& o, const backends::Bound& b) {
  if (!b.data || o.constant || !plan::is_memory(o.at.space) || o.dtype == DType::string) return false;
  return b.rank == 0 || (b.rank == 1 && b.dims[0] <= kShort);
}

std::string values_of(const plan::Operand& o, const backends::Bound& b) {
  std::string text;
  const std::int64_t count = b.rank == 0 ? 1 : b.dims[0], stride = b.rank == 0 ? 1 : b.strides[0];
  for (std::int64_t i = 0; i < count; ++i) {
    text += i ? ", " : "";
    text += is_float(o.dtype) ? cat(load_double(o.dtype, b.data, i * stride)) : cat(load_int(o.dtype, b.data, i * stride));
  }
  return b.rank == 0 ? text : "[" + text + "]";
}

std::string operands_of(const ContextState& c, const BoundStep& bound) {
  const plan::Step& step = *bound.open->step;
  std::string all;
  if (c.device || !step.programs.empty()) return all;   // memory of a device; a step of the body has told of its own
  for (std::size_t i = 0; i < step.in.size() && i < bound.in.size(); ++i)
    if (is_short(step.in[i], bound.in[i]))
      all += cat(all.empty() ? "" : ", ", "operand ", i, " ('", step.in[i].name, "') is ", values_of(step.in[i], bound.in[i]));
  return all;
}

}  // namespace

Status fault_of_exception(ContextState& c) noexcept {
  try {
    throw;
  } catch (const ir::IndexFault& e) {
    keep(c, e.what());
    return {Status::bad_index, -1};
  } catch (const Error& e) {
    keep(c, e.what());
    switch (e.kind()) {
      case ErrorKind::invalid_argument:
      case ErrorKind::invalid_model:
      case ErrorKind::unsupported: return {Status::invalid_input, -1};
      case ErrorKind::out_of_memory: return {Status::out_of_memory, -1};
      default: return {Status::failed, -1};
    }
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  } catch (const std::exception& e) {
    keep(c, e.what());
    return {Status::failed, -1};
  } catch (...) {
    return {Status::failed, -1};
  }
}

void add_operands(ContextState& c, const BoundStep& bound, bool nested) noexcept {
  try {
    std::string& words = c.run.last_error;
    const std::string operands = operands_of(c, bound);
    if (!operands.empty()) words += words.empty() ? operands : "; " + operands;
    if (nested) words = cat("step '", bound.open->step->name, "' (", bound.open->step->op, "): ", words);
  } catch (...) {   // the status stands without words
  }
}

}  // namespace tenfold::runtime
