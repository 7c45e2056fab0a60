// conv_dnn: convolutions by cuDNN's graphs, channels last, with bias, residual and ReLU; configurations are the library's candidates.
#include <map>
#include <mutex>

#include "backends/cuda/device/dnn_graph.h"
#include "backends/cuda/device/library_workspace.h"
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/packed_tactic.h"
#include "base/check.h"
#include "base/find_or_make.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int64_t kWorkspace = 64 << 20;
enum Id : int64_t { kX = 1, kW = 2, kY = 3, kBiasId = 4, kResidualId = 5 };

Verdict supports(const Problem& p) {
  if (!cudnn()) return Verdict::no(cudnn_why_not());
  if (p.may_be_misaligned()) return Verdict::no("its operands are described as lying at multiples of 16 bytes");
  const DType t = p.in[0].dtype;
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16) return Verdict::no(cat("operands are ", name(t)));
  if (p.in[1].dtype != t || p.out[0].dtype != t) return Verdict::no("operands differ in type");
  if (t == DType::f32 && !p.numerics.allows(ir::Rounding::tf32))
    return Verdict::no("cuDNN computes f32 convolutions in TF32, which is not allowed (--noTF32, BuildConfig::tf32 = false)");
  if (Verdict v = conv_is_regular(p); !v) return v;
  LibraryEpilogue epilogue;
  return match_conv_epilogue(p, epilogue);
}

// {order of the additions, heuristic, rank}
std::vector<Config> configs(const Problem& p) {
  LibraryEpilogue epilogue;
  match_conv_epilogue(p, epilogue);
  std::vector<Config> all;
  for (int rank = 0; rank < 3; ++rank) all.push_back({0, dnn::kModeA, rank});
  if (epilogue.bias >= 0 && epilogue.residual >= 0) all.push_back({1, dnn::kModeA, 0}), all.push_back({1, dnn::kModeA, 1});
  all.push_back({0, dnn::kModeB, 0});
  for (int rank = 3; rank < 10; ++rank)
    all.push_back({0, dnn::kModeA, rank});  // for high optimization levels: some take half a second to make
  return all;
}
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 3 && c[0] >= 0 && c[0] <= 1 && (c[1] == dnn::kModeA || c[1] == dnn::kModeB) && c[2] >= 0 && c[2] < 32,
                          "there is no such candidate");
}
ir::Dim workspace(const Problem&, const Config&) { return with_room_to_align(kWorkspace); }

// Strides of a dense channels-last tensor, by logical dim.
std::vector<int64_t> strides_of(const std::vector<int64_t>& dims) {
  std::vector<int64_t> s(dims.size(), 1);
  int64_t step = dims[1];
  for (std::size_t d = dims.size() - 1; d > 1; --d) s[d] = step, step *= dims[d];
  s[0] = step;
  return s;
}

struct Kernel {
  DnnConvolution convolution;  // with extents of 0 where only a run knows them
  LibraryEpilogue epilogue;
  Config config;
  Device* device = nullptr;
  bool is_1d = false;  // computed as two spatial dims, the first of extent 1
  // Plans by input and output extents: one when the plan is loaded, further ones when dynamic shapes are first recorded.
  mutable std::mutex mutex;
  mutable std::map<std::vector<int64_t>, std::shared_ptr<const DnnPlan>> plans;
};

std::vector<int64_t> widened(const Kernel& k, const int64_t* dims, int rank) {
  std::vector<int64_t> all(dims, dims + rank);
  if (k.is_1d) all.insert(all.begin() + 2, 1);
  return all;
}

const DnnPlan& plan_for(const Kernel& k, const int64_t* x, const int64_t* y, int rank, bool in_run) {
  std::vector<int64_t> key = widened(k, x, rank);
  const std::vector<int64_t> out = widened(k, y, rank);
  DnnConvolution c = k.convolution;
  c.x.dims = key, c.x.strides = strides_of(key);
  c.y.dims = c.residual.dims = out, c.y.strides = c.residual.strides = strides_of(out);
  c.bias.dims.assign(out.size(), 1);
  c.bias.dims[1] = out[1];
  c.bias.strides = strides_of(c.bias.dims);
  key.insert(key.end(), out.begin(), out.end());
  std::lock_guard lock(k.mutex);
  return *find_or_make(k.plans, key, [&] {
    return plan_convolution(*k.device, c, static_cast<int>(k.config[1]), static_cast<int>(k.config[2]), kWorkspace, in_run);
  });
}

std::shared_ptr<const void> open(const Problem& p, const Config& config, Opening&) {
  auto k = std::make_shared<Kernel>();
  k->device = &device_of(*p.device);
  k->device->make_current();
  k->config = config;
  match_conv_epilogue(p, k->epilogue);
  const std::size_t rank = p.in[0].dims.size() - 2;
  k->is_1d = rank == 1;
  DnnConvolution& c = k->convolution;
  const ir::Ints ones(rank, 1), none(2 * rank, 0), pads = p.attributes->ints("pads", none);
  c.strides = p.attributes->ints("strides", ones), c.dilations = p.attributes->ints("dilations", ones);
  c.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  c.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  if (k->is_1d) {
    c.strides.insert(c.strides.begin(), 1), c.dilations.insert(c.dilations.begin(), 1);
    c.begin.insert(c.begin.begin(), 0), c.end.insert(c.end.begin(), 0);
  }
  const int type = dnn_type(p.in[0].dtype);
  const std::vector<int64_t> w = ir::constants(p.in[1].dims);
  c.w = {kW, type, widened(*k, w.data(), static_cast<int>(w.size())), {}, false};
  c.w.strides = strides_of(c.w.dims);
  c.x.id = kX, c.y.id = kY, c.bias.id = kBiasId, c.residual.id = kResidualId;
  c.x.type = c.y.type = c.bias.type = c.residual.type = type;
  c.has_bias = k->epilogue.bias >= 0, c.has_residual = k->epilogue.residual >= 0, c.relu = k->epilogue.relu;
  c.bias_first = config[0] == 1;
  if (!ir::is_constant(p.in[0].dims) || !ir::is_constant(p.out[0].dims)) return k;
  const std::vector<int64_t> x = ir::constants(p.in[0].dims), y = ir::constants(p.out[0].dims);
  if (ir::product(p.in[0].dims) == ir::Dim(0) || ir::product(p.out[0].dims) == ir::Dim(0)) return k;
  require(plan_for(*k, x.data(), y.data(), static_cast<int>(x.size()), false).good(), ErrorKind::unsupported,
          "cuDNN has no such candidate for ", p.line());
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  for (const Bound* b : {&x, &y})
    for (int d = 0; d < b->rank; ++d)
      if (b->dims[d] == 0) return Status::ok;
  int64_t ids[5] = {kX, kW, kY};
  void* pointers[5] = {x.data, args.in[1].data, y.data};
  std::size_t count = 3;
  if (k.epilogue.bias >= 0) ids[count] = kBiasId, pointers[count++] = args.in[static_cast<std::size_t>(k.epilogue.bias)].data;
  if (k.epilogue.residual >= 0) ids[count] = kResidualId, pointers[count++] = args.in[static_cast<std::size_t>(k.epilogue.residual)].data;
  std::uintptr_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= reinterpret_cast<std::uintptr_t>(pointers[i]);
  if (bits % kVectorBytes != 0) return Status::failed;
  try {
    const DnnPlan& plan = plan_for(k, x.dims, y.dims, x.rank, true);
    if (!plan.good()) return Status::failed;
    return run_plan(queue_of(args), plan, {ids, count}, {pointers, count}, library_workspace(args.workspace));
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory;
  } catch (const Error&) {
    return Status::device;
  }
}

double work(const Problem& p) {
  double product = 2 * static_cast<double>(ir::product(p.in[1].dims).constant()) / static_cast<double>(p.in[1].dims[0].constant());
  for (ir::Dim d : p.out[0].dims) product *= static_cast<double>(p.bounds(d).upper);
  return product;
}

}  // namespace

Tactic cuda_conv_dnn() {
  return packed_tactic({.name = "conv_dnn", .version = 3, .ops = {"Conv"}, .source = Source::cudnn,
                        .formats = conv_formats, .workspace = workspace},
                       {supports, configs, valid, conv_weight_bytes, pack_conv_weight, unpack_conv_weight, open, run,
                        work});
}

}  // namespace tenfold::backends
