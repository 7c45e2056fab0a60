// Errors, element types, shapes and tensors of C callers.
#include "c/run/common.h"
#include "tenfold/version.h"

namespace tenfold::c {
namespace {
thread_local std::string last_error;
thread_local std::vector<ModelProblem> problems_of_last;
}  // namespace

const std::vector<ModelProblem>& last_problems() noexcept { return problems_of_last; }

tenfold_status failed(tenfold_status status, const char* text, const std::vector<ModelProblem>& problems) noexcept {
  try {
    last_error = text;
    problems_of_last = problems;
  } catch (...) {
    last_error.clear(), problems_of_last.clear();
  }
  return status;
}

static_assert(static_cast<int>(ErrorKind::internal) + 1 == TENFOLD_INTERNAL && Status::invalid_input + kRun == TENFOLD_RUN_INVALID_INPUT &&
              Status::bad_index + kRun == TENFOLD_RUN_BAD_INDEX && static_cast<int>(ErrorKind::io) + 1 == TENFOLD_IO);

DType dtype_of(const char* text) {
  const auto type = dtype_from_name(&need(text, "dtype"));
  require(type.has_value(), ErrorKind::invalid_argument, "there is no element type '", text, "'");
  return *type;
}

Shape shape_of(const std::int64_t* dims, std::int32_t rank) {
  require(rank >= 0 && rank <= 64 && (rank == 0 || dims), ErrorKind::invalid_argument, "a shape of rank ", rank);
  return Shape(dims, dims + rank);
}

Tensor tensor_of(const char* dtype, const std::int64_t* dims, std::int32_t rank, const void* data, std::size_t bytes, const char* what) {
  const DType type = dtype_of(dtype);
  require(type != DType::string, ErrorKind::unsupported, what, " of strings");
  const Shape shape = shape_of(dims, rank);
  const std::int64_t requested = byte_size(type, element_count(shape));
  require(static_cast<std::uint64_t>(requested) == bytes && (data || bytes == 0), ErrorKind::invalid_argument, what, " of ", requested,
          " bytes is given ", bytes);
  Tensor tensor(type, shape);
  if (bytes) std::memcpy(tensor.mutable_raw(), data, bytes);
  return tensor;
}

}  // namespace tenfold::c

extern "C" const char* tenfold_last_error(void) { return tenfold::c::last_error.c_str(); }
extern "C" const char* tenfold_version(void) { return tenfold::version().data(); }  // a literal, so it ends in a zero
extern "C" const char* tenfold_status_name(tenfold_status status) {
  using namespace tenfold;
  if (status == TENFOLD_OK) return "ok";
  if (status >= TENFOLD_INVALID_ARGUMENT && status <= TENFOLD_INTERNAL) return name(static_cast<ErrorKind>(status - 1)).data();
  if (status >= TENFOLD_RUN_NOT_READY && status <= TENFOLD_RUN_INVALID_INPUT)
    return name(static_cast<Status::Code>(status - c::kRun)).data();
  return "unknown status";
}
