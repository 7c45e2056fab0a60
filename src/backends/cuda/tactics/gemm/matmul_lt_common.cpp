// Descriptions for cuBLASLt, which thinks in columns: our rows are its columns, so the weights come first.
#include "backends/cuda/tactics/gemm/matmul_lt_common.h"

#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace tenfold::backends::cuda {

// What has one row may be both.
Verdict match_lt_epilogue(const Problem& p, LibraryEpilogue& epilogue) {
  const auto take = [](const Problem& q, int operand, LibraryEpilogue& t) {
    const OperandDesc& o = q.in[static_cast<std::size_t>(operand)];
    const ir::Dims& out = q.out[0].dims;
    const bool whole = o.dims == out && o.layout == q.out[0].layout, rows = out.size() > 1 && out[out.size() - 2] != ir::Dim(1);
    if (t.residual < 0 && whole && rows) return t.residual = operand, true;
    if (t.bias < 0 && !o.dims.empty() && o.dims.back() == out.back() && ir::product(o.dims) == out.back()) return t.bias = operand, true;
    if (t.residual < 0 && whole) return t.residual = operand, true;
    return false;
  };
  return match_library_epilogue(p, take, epilogue);
}

LtPlan::~LtPlan() {
  const CublasLt* lt = cublas_lt();
  if (product_) lt->product_destroy(product_);
  for (LtObject m : {a_, b_, d_})
    if (m) lt->matrix_destroy(m);
}
void LtPlan::swap(LtPlan& other) noexcept {
  std::swap(product_, other.product_), std::swap(a_, other.a_), std::swap(b_, other.b_), std::swap(d_, other.d_);
  std::swap(algorithm_, other.algorithm_), std::swap(f64_, other.f64_);
}

bool LtPlan::make(LtHandle handle, const LtSizes& s, DType dtype, bool tf32, const LibraryEpilogue& epilogue, int alignment, int rank,
                  std::int64_t workspace) noexcept {
  const CublasLt& lt = *cublas_lt();
  *this = LtPlan();
  f64_ = dtype == DType::f64;
  const int type = cuda_type(dtype), scale = f64_ ? cuda_type(DType::f64) : cuda_type(DType::f32);
  bool good = lt.product_create(&product_, f64_ ? kComputeF64 : tf32 ? kComputeTf32 : kComputeF32, scale) == 0;
  const auto set = [&](int attribute, const auto& value) { good = good && lt.product_set(product_, attribute, &value, sizeof value) == 0; };
  set(kTransposeA, std::int32_t{s.b_transposed});
  set(kEpilogue,
      (epilogue.relu ? kRelu : 0u) | (epilogue.bias >= 0 ? kBias : 0u) | (epilogue.relu || epilogue.bias >= 0 ? 0u : kNoEpilogue));
  if (epilogue.bias >= 0) set(kBiasType, std::int32_t{type});
  const auto matrix = [&](LtObject& m, std::int64_t rows, std::int64_t columns, bool batched, std::int64_t stride) {
    good = good && lt.matrix_create(&m, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows) == 0;
    if (s.batch == 1) return;
    const auto count = static_cast<std::int32_t>(s.batch);
    const std::int64_t step = batched ? stride : 0;
    good = good && lt.matrix_set(m, kBatchCount, &count, sizeof count) == 0 && lt.matrix_set(m, kBatchStride, &step, sizeof step) == 0;
  };
  matrix(a_, s.b_transposed ? s.k : s.n, s.b_transposed ? s.n : s.k, s.b_batched, s.n * s.k);
  matrix(b_, s.k, s.m, true, s.k * s.m);
  matrix(d_, s.n, s.m, true, s.n * s.m);
  LtObject preference = nullptr;
  good = good && lt.preference_create(&preference) == 0;
  const auto max_bytes = static_cast<std::size_t>(workspace);
  good = good && lt.preference_set(preference, kMaxWorkspace, &max_bytes, sizeof max_bytes) == 0;
  for (int attribute = 5; attribute < 9; ++attribute) {  // alignment of the four operands, in bytes
    const auto bytes = static_cast<std::uint32_t>(alignment);
    good = good && lt.preference_set(preference, attribute, &bytes, sizeof bytes) == 0;
  }
  constexpr int kMaxHeuristics = 8;
  LtHeuristic found[kMaxHeuristics];
  int count = 0;
  good = good && lt.heuristic(handle, product_, a_, b_, d_, d_, preference, kMaxHeuristics, found, &count) == 0 && rank < count &&
         found[rank].state == 0;
  if (preference) lt.preference_destroy(preference);
  if (good) algorithm_ = found[rank].algorithm;
  return good;
}

Status::Code LtPlan::run(LtHandle handle, const Queue& queue, const void* a, const void* b, void* d, const void* bias, const void* residual,
                         void* workspace, std::int64_t workspace_bytes) const noexcept {
  const CublasLt& lt = *cublas_lt();
  // The bias is part of the description, which others may be using: it is set in a copy. (The library declares descriptions as
  // plain structures of 256 bytes from version 12 on, so that they can live on a stack.)
  alignas(16) std::uint64_t copy[32];
  LtObject product = product_;
  if (bias) {
    std::memcpy(copy, product_, sizeof copy);
    product = reinterpret_cast<LtObject>(copy);
    lt.product_set(product, kBiasPointer, &bias, sizeof bias);
  }
  const float one = 1, beta = residual ? 1.f : 0.f;
  const double one64 = 1, beta64 = residual ? 1 : 0;
  const void* alpha_at = f64_ ? static_cast<const void*>(&one64) : &one;
  const void* beta_at = f64_ ? static_cast<const void*>(&beta64) : &beta;
  const int result = lt.multiply(handle, product, alpha_at, b, a_, a, b_, beta_at, residual ? residual : d, d_, d, d_, &algorithm_,
                                 workspace, static_cast<std::size_t>(workspace_bytes), queue.stream);
  constexpr int kExecutionFailed = 13, kInternalError = 14;   // anything else is a refusal: the GPU is as it was
  return result == 0 ? Status::ok : result == kExecutionFailed || result == kInternalError ? Status::device : Status::failed;
}

std::shared_ptr<const LtPlan> lt_plan_at(LtHandle handle, const LtSizes& sizes, DType dtype, bool tf32, const LibraryEpilogue& epilogue,
                                         int alignment, int rank, std::int64_t workspace) noexcept {
  using Key = std::tuple<LtHandle, LtSizes, DType, bool, bool, bool, int, int>;
  constexpr std::size_t kMax = 1024;
  static std::mutex mutex;
  static auto& plans = *new std::map<Key, std::shared_ptr<const LtPlan>>;  // stays: the library may be gone when statics end
  const Key key{handle, sizes, dtype, tf32, epilogue.relu, epilogue.bias >= 0, alignment, rank};
  const std::lock_guard lock(mutex);
  try {
    if (const auto it = plans.find(key); it != plans.end()) return it->second;
    const auto made = std::make_shared<LtPlan>();
    if (!made->make(handle, sizes, dtype, tf32, epilogue, alignment, rank, workspace) &&
        !made->make(handle, sizes, dtype, tf32, epilogue, alignment, 0, workspace))
      return nullptr;
    if (plans.size() >= kMax) plans.clear();
    return plans[key] = made;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace tenfold::backends::cuda
