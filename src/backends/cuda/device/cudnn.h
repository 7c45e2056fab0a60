// cuDNN's graph interface, as far as it is used: declared here in our own words.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cuda/device/driver.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

struct OpaqueDnnHandle;
using DnnHandle = OpaqueDnnHandle*;
using DnnDescriptor = void*;

// Numbers that the interface fixes: kinds of descriptors, their attributes, and the types of attributes.
namespace dnn {
enum Kind : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kConvolve = 10,
  kPoint = 13,
  kGraph = 15,
  kPack = 16,
  kTensor = 17
};
enum Attribute : int {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kConvPrecision = 100,
  kConvMode = 101,
  kConvDilations = 102,
  kConvStrides = 103,
  kConvPostPads = 104,
  kConvPrePads = 105,
  kConvSpatialDims = 106,
  kHeuristicMode = 200,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kConvolveAlpha = 700,
  kConvolveBeta = 701,
  kConvolveConv = 702,
  kConvolveW = 703,
  kConvolveX = 704,
  kConvolveY = 705,
  kPointOperator = 750,
  kPointX = 751,
  kPointB = 752,
  kPointY = 753,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorDims = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorVirtual = 907,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1305,
};
enum Type : int {
  kHandle = 0,
  kDataType = 1,
  kBoolean = 2,
  kInt64 = 3,
  kFloat = 4,
  kPointer = 6,
  kConvModeType = 7,
  kHeuristicType = 8,
  kPointwiseType = 14,
  kDescriptor = 15,
  kNote = 19
};
enum Note : int { kCompiledAtRunTime = 0 };
enum Pointwise : int { kAdd = 0, kReluForward = 100 };
enum Heuristic : int { kModeB = 1, kModeA = 3 };
enum Mode : int { kCrossCorrelation = 1 };
enum Data : int { kF32 = 0, kF16 = 2, kBf16 = 9 };
}  // namespace dnn

struct Cudnn {
  std::size_t (*version)();
  int (*create)(DnnHandle* handle);
  int (*destroy)(DnnHandle handle);
  int (*set_stream)(DnnHandle handle, StreamHandle stream);
  int (*descriptor_create)(int kind, DnnDescriptor* descriptor);
  int (*descriptor_destroy)(DnnDescriptor descriptor);
  int (*finalize)(DnnDescriptor descriptor);
  int (*set)(DnnDescriptor descriptor, int attribute, int type, std::int64_t count, const void* values);
  int (*get)(DnnDescriptor descriptor, int attribute, int type, std::int64_t requested, std::int64_t* count, void* values);
  int (*execute)(DnnHandle handle, DnnDescriptor plan, DnnDescriptor pack);
  std::string version_text() const;
};

// Null if the library is not there.
const Cudnn* cudnn();
const std::string& cudnn_why_not();
int dnn_type(DType dtype);  // -1 if it has none

}  // namespace tenfold::backends::cuda
