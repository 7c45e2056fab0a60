// Convolution graphs of cuDNN.
#include "backends/cuda/device/dnn_graph.h"

#include <map>
#include <mutex>

#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

// Plans are made with a handle of their own for each device; its lock also keeps makers apart.
struct Maker {
  std::mutex mutex;
  DnnHandle handle = nullptr;
};
Maker& maker(int ordinal) {
  static std::mutex mutex;
  static std::map<int, Maker> makers;
  std::lock_guard lock(mutex);
  return makers[ordinal];
}

DnnObject tensor(const DnnTensor& t) {
  DnnObject o(dnn::kTensor);
  o.set(dnn::kTensorType, dnn::kDataType, 1, &t.type);
  o.set(dnn::kTensorDims, t.dims);
  o.set(dnn::kTensorStrides, t.strides);
  o.set(dnn::kTensorId, t.id);
  o.set(dnn::kTensorAlignment, std::int64_t{16});
  o.set(dnn::kTensorVirtual, dnn::kBoolean, 1, &t.is_virtual);
  o.finish();
  return o;
}

// Operations in order, and the descriptors they refer to.
class GraphMaker {
 public:
  explicit GraphMaker(const DnnConvolution& c) : c_(c) {
    int left = c.has_bias + c.has_residual + c.relu;
    current_ = add(next_tensor(left == 0));
    convolve();
    const auto step = [&](int mode, const DnnTensor* other) {
      const std::size_t from = current_;
      current_ = add(next_tensor(--left == 0));
      point(mode, from, other);
    };
    if (c.has_bias && c.bias_first) step(dnn::kAdd, &c.bias);
    if (c.has_residual) step(dnn::kAdd, &c.residual);
    if (c.has_bias && !c.bias_first) step(dnn::kAdd, &c.bias);
    if (c.relu) step(dnn::kReluForward, nullptr);
  }
  DnnObject graph(DnnHandle handle) {
    DnnObject g(dnn::kGraph);
    std::vector<DnnDescriptor> list;
    for (const DnnObject& o : operations_) {
      if (!o.good()) return DnnObject();
      list.push_back(o.get());
    }
    g.set(dnn::kGraphOperations, dnn::kDescriptor, static_cast<std::int64_t>(list.size()), list.data());
    g.set(dnn::kGraphHandle, dnn::kHandle, 1, &handle);
    g.finish();
    return g;
  }

 private:
  DnnTensor next_tensor(bool last) {
    DnnTensor t = c_.y;
    if (last) return t;
    t.id = 100 + static_cast<std::int64_t>(objects_.size());
    t.is_virtual = true;
    t.type = c_.precision;
    return t;
  }
  std::size_t add(const DnnTensor& t) { return objects_.push_back(tensor(t)), objects_.size() - 1; }
  void convolve() {
    DnnObject conv(dnn::kConvolution);
    const int mode = dnn::kCrossCorrelation;
    conv.set(dnn::kConvPrecision, dnn::kDataType, 1, &c_.precision);
    conv.set(dnn::kConvMode, dnn::kConvModeType, 1, &mode);
    conv.set(dnn::kConvSpatialDims, static_cast<std::int64_t>(c_.strides.size()));
    conv.set(dnn::kConvStrides, c_.strides), conv.set(dnn::kConvDilations, c_.dilations);
    conv.set(dnn::kConvPrePads, c_.begin), conv.set(dnn::kConvPostPads, c_.end);
    conv.finish();
    const std::size_t x = add(c_.x), w = add(c_.w);
    DnnObject operation(dnn::kConvolve);
    const float one = 1, zero = 0;
    operation.set(dnn::kConvolveConv, conv);
    operation.set(dnn::kConvolveX, objects_[x]), operation.set(dnn::kConvolveW, objects_[w]),
        operation.set(dnn::kConvolveY, objects_[current_]);
    operation.set(dnn::kConvolveAlpha, dnn::kFloat, 1, &one), operation.set(dnn::kConvolveBeta, dnn::kFloat, 1, &zero);
    operation.finish();
    objects_.push_back(std::move(conv));
    operations_.push_back(std::move(operation));
  }
  void point(int mode, std::size_t from, const DnnTensor* other) {
    DnnObject what(dnn::kPointwise);
    const int f32 = dnn::kF32;
    what.set(dnn::kPointwiseMode, dnn::kPointwiseType, 1, &mode);
    what.set(dnn::kPointwisePrecision, dnn::kDataType, 1, &f32);
    what.finish();
    DnnObject operation(dnn::kPoint);
    operation.set(dnn::kPointOperator, what);
    operation.set(dnn::kPointX, objects_[from]);
    if (other) {
      const std::size_t b = add(*other);
      operation.set(dnn::kPointB, objects_[b]);
    }
    operation.set(dnn::kPointY, objects_[current_]);
    operation.finish();
    objects_.push_back(std::move(what));
    operations_.push_back(std::move(operation));
  }

  const DnnConvolution& c_;
  std::vector<DnnObject> objects_, operations_;
  std::size_t current_ = 0;
};

}  // namespace

DnnPlan plan_convolution(int ordinal, const DnnConvolution& c, int heuristic, int rank, std::int64_t most_workspace) {
  Maker& m = maker(ordinal);
  std::lock_guard lock(m.mutex);
  if (!m.handle) require(cudnn()->create(&m.handle) == 0, ErrorKind::unsupported, "cuDNN does not start");
  GraphMaker made(c);
  DnnObject graph = made.graph(m.handle);
  DnnObject heuristics(dnn::kHeuristics);
  heuristics.set(dnn::kHeuristicGraph, graph);
  heuristics.set(dnn::kHeuristicMode, dnn::kHeuristicType, 1, &heuristic);
  DnnPlan result;
  if (!heuristics.finish()) return result;
  std::vector<DnnObject> configs;
  std::vector<DnnDescriptor> list;
  for (int i = 0; i <= rank; ++i) list.push_back(configs.emplace_back(dnn::kEngineConfig).get());
  std::int64_t found = 0;
  if (cudnn()->get(heuristics.get(), dnn::kHeuristicResults, dnn::kDescriptor, rank + 1, &found, list.data()) != 0 || found <= rank)
    return result;
  result.config = std::move(configs[static_cast<std::size_t>(rank)]);
  DnnObject plan(dnn::kPlan);
  plan.set(dnn::kPlanHandle, dnn::kHandle, 1, &m.handle);
  plan.set(dnn::kPlanConfig, result.config);
  if (!plan.finish()) return result;
  std::int64_t count = 0;
  if (cudnn()->get(plan.get(), dnn::kPlanWorkspace, dnn::kInt64, 1, &count, &result.workspace) == 0 && result.workspace <= most_workspace)
    result.plan = std::move(plan);
  return result;
}

Status::Code run_plan(Queue& queue, const DnnPlan& plan, std::span<const std::int64_t> ids, std::span<void* const> pointers,
                      void* workspace) noexcept {
  DnnHandle handle = queue.dnn();
  if (!handle) return Status::device;
  DnnObject pack(dnn::kPack);
  pack.set(dnn::kPackIds, ids);
  pack.set(dnn::kPackPointers, dnn::kPointer, static_cast<std::int64_t>(pointers.size()), pointers.data());
  pack.set(dnn::kPackWorkspace, dnn::kPointer, 1, &workspace);
  if (!pack.finish()) return Status::failed;
  return cudnn()->execute(handle, plan.plan.get(), pack.get()) == 0 ? Status::ok : Status::device;
}

}  // namespace tenfold::backends::cuda
