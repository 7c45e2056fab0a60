// cuBLASLt's interface, as far as it is used: declared here in our own words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cuda/device/driver.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

struct OpaqueLtHandle;
struct OpaqueLtObject;
using LtHandle = OpaqueLtHandle*;
using LtObject = OpaqueLtObject*;  // a description of a product, a matrix or a preference

struct LtAlgorithm {
  std::uint64_t data[8];
};
struct LtHeuristic {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

// Numbers that the interface fixes.
enum LtCompute : int { kComputeF32 = 68, kComputeTf32 = 77, kComputeF64 = 70 };
enum LtGemm : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8, kBiasType = 26 };
enum LtMatrix : int { kBatchCount = 5, kBatchStride = 6 };
enum LtPreference : int { kMaxWorkspace = 1 };
inline constexpr std::uint32_t kNoEpilogue = 1, kRelu = 2, kBias = 4;

struct CublasLt {
  int (*create)(LtHandle* handle);
  int (*destroy)(LtHandle handle);
  std::size_t (*version)();
  int (*product_create)(LtObject* product, int compute, int scale_type);
  int (*product_set)(LtObject product, int attribute, const void* value, std::size_t bytes);
  int (*product_destroy)(LtObject product);
  int (*matrix_create)(LtObject* matrix, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading);
  int (*matrix_set)(LtObject matrix, int attribute, const void* value, std::size_t bytes);
  int (*matrix_destroy)(LtObject matrix);
  int (*preference_create)(LtObject* preference);
  int (*preference_set)(LtObject preference, int attribute, const void* value, std::size_t bytes);
  int (*preference_destroy)(LtObject preference);
  int (*heuristic)(LtHandle handle, LtObject product, LtObject a, LtObject b, LtObject c, LtObject d, LtObject preference, int requested,
                   LtHeuristic* results, int* found);
  int (*multiply)(LtHandle handle, LtObject product, const void* alpha, const void* a, LtObject a_matrix, const void* b, LtObject b_matrix,
                  const void* beta, const void* c, LtObject c_matrix, void* d, LtObject d_matrix, const LtAlgorithm* algorithm,
                  void* workspace, std::size_t workspace_bytes, StreamHandle stream);
  std::string version_text() const;
};

// Null if the library is not there.
const CublasLt* cublas_lt();
const std::string& cublas_lt_why_not();
// CUDA's number of an element type; -1 if it has none.
int cuda_type(DType dtype);

}  // namespace tenfold::backends::cuda
