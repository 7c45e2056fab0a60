// Convolution graphs of cuDNN.
#include "backends/cuda/device/dnn_graph.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/check.h"
#include "base/find_or_make.h"

namespace tenfold::backends::cuda {
namespace {

// What a heuristic says about one graph, asked once, and the plans made of it.
struct Proposals {
  DnnObject graph, heuristics;
  std::vector<DnnObject> configs;
  // By rank; one that cannot be had is there, too. cuDNN refuses a second plan of a configuration that is compiled at run time.
  std::map<std::size_t, std::shared_ptr<const DnnPlan>> plans;
};
constexpr std::size_t kMaxProposals = 1024;

// Plans are made with a handle of their own for each device; its lock also keeps makers apart.
struct Maker {
  std::mutex mutex;
  DnnHandle handle = nullptr;
  std::map<std::string, Proposals> known;
  ~Maker() {
    known.clear();
    if (handle) cudnn()->destroy(handle);
  }
};

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

namespace {

std::string key_of(const DnnConvolution& c, int heuristic) {
  std::string key = cat(heuristic, ' ', c.has_bias, c.has_residual, c.relu, c.bias_first, ' ', c.precision);
  const auto add = [&](const std::vector<std::int64_t>& list) {
    key += ';';
    for (std::int64_t n : list) key += cat(n, ',');
  };
  for (const auto* list : {&c.strides, &c.dilations, &c.begin, &c.end}) add(*list);
  for (const DnnTensor* t : {&c.x, &c.w, &c.y, &c.bias, &c.residual}) key += cat('/', t->type), add(t->dims), add(t->strides);
  return key;
}

Proposals query_heuristic(DnnHandle handle, const DnnConvolution& c, int heuristic) {
  constexpr std::int64_t kMax = 16;
  Proposals p;
  GraphMaker made(c);
  p.graph = made.graph(handle);
  p.heuristics = DnnObject(dnn::kHeuristics);
  p.heuristics.set(dnn::kHeuristicGraph, p.graph);
  p.heuristics.set(dnn::kHeuristicMode, dnn::kHeuristicType, 1, &heuristic);
  if (!p.heuristics.finish()) return p;
  std::vector<DnnDescriptor> list;
  for (std::int64_t i = 0; i < kMax; ++i) list.push_back(p.configs.emplace_back(dnn::kEngineConfig).get());
  std::int64_t found = 0;
  if (cudnn()->get(p.heuristics.get(), dnn::kHeuristicResults, dnn::kDescriptor, kMax, &found, list.data()) != 0) found = 0;
  p.configs.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(found, 0, kMax)));
  return p;
}

bool compiled_at_run_time(const DnnObject& config) {
  DnnObject engine(dnn::kEngine);
  DnnDescriptor descriptor = engine.get();
  std::int64_t count = 0;
  if (cudnn()->get(config.get(), dnn::kConfigEngine, dnn::kDescriptor, 1, &count, &descriptor) != 0 || count != 1) return false;
  int notes[8] = {};
  if (cudnn()->get(descriptor, dnn::kEngineNotes, dnn::kNote, 8, &count, notes) != 0) return false;
  return std::find(notes, notes + std::min<std::int64_t>(count, 8), int{dnn::kCompiledAtRunTime}) !=
         notes + std::min<std::int64_t>(count, 8);
}

std::shared_ptr<const DnnPlan> make_plan(const Proposals& p, DnnHandle handle, std::size_t rank, std::int64_t max_workspace) {
  auto result = std::make_shared<DnnPlan>();
  if (rank >= p.configs.size()) return result;
  if (compiled_at_run_time(p.configs[rank]) &&
      std::any_of(p.configs.begin(), p.configs.begin() + static_cast<std::ptrdiff_t>(rank), compiled_at_run_time))
    return result;
  DnnObject plan(dnn::kPlan);
  plan.set(dnn::kPlanHandle, dnn::kHandle, 1, &handle);
  plan.set(dnn::kPlanConfig, p.configs[rank]);
  if (!plan.finish()) return result;
  std::int64_t count = 0;
  if (cudnn()->get(plan.get(), dnn::kPlanWorkspace, dnn::kInt64, 1, &count, &result->workspace) == 0 && result->workspace <= max_workspace)
    result->plan = std::move(plan);
  return result;
}

std::shared_ptr<const DnnPlan> plan_of(Proposals& p, DnnHandle handle, std::size_t rank, std::int64_t max_workspace) {
  return find_or_make(p.plans, rank, [&] { return make_plan(p, handle, rank, max_workspace); });
}

// The wanted engine if it is there already, or else the first that can be had. Those that are compiled at run time come last, for they
// take half a second; some convolutions with bias and residual have no others.
std::shared_ptr<const DnnPlan> plan_in_run(Proposals& p, DnnHandle handle, std::size_t rank, std::int64_t max_workspace) {
  if (const auto known = p.plans.find(rank); known != p.plans.end() && known->second->good()) return known->second;
  auto result = std::make_shared<const DnnPlan>();
  for (const bool compiled : {false, true})
    for (std::size_t i = 0; i <= p.configs.size() && !result->good(); ++i) {
      const std::size_t at = i == 0 ? rank : i - 1;
      if (at < p.configs.size() && compiled_at_run_time(p.configs[at]) == compiled) result = plan_of(p, handle, at, max_workspace);
    }
  return result;
}

}  // namespace

std::shared_ptr<const DnnPlan> plan_convolution(Device& device, const DnnConvolution& c, int heuristic, int rank,
                                                std::int64_t max_workspace, bool in_run) {
  Maker& m = device.keep<Maker>();
  std::lock_guard lock(m.mutex);
  if (!m.handle) require(cudnn()->create(&m.handle) == 0, ErrorKind::unsupported, "cuDNN does not start");
  if (m.known.size() > kMaxProposals) m.known.clear();
  Proposals& proposals = find_or_make(m.known, key_of(c, heuristic), [&] { return query_heuristic(m.handle, c, heuristic); });
  return (in_run ? plan_in_run : plan_of)(proposals, m.handle, static_cast<std::size_t>(rank), max_workspace);
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
