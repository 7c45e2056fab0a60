// attention_wgmma: attention of f16 and bf16 on Hopper's tensor cores, operands by TMA; the configuration is {groups of 64 queries in a
// team, teams of a block, keys of a step, stages}.
#include "backends/cuda/codegen/attention/attention_wgmma.h"

#include <algorithm>

#include "backends/cuda/device/launch.h"
#include "backends/cuda/device/tensor_map.h"
#include "backends/cuda/tactics/attention/attention_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kSharedBytes = 227 << 10, kMaxStages = 4;
constexpr int64_t kMaxUnits = int64_t{1} << 30, kMaxGroups = 4;
constexpr int64_t kMaxKeys = 8192;  // attention_simple takes over where addresses are odd
constexpr double kMaxCap = 1000;    // tanh is off by some 2^-22, of the cap

int64_t upper(const Problem& p, std::size_t operand) { return std::max<int64_t>(p.bounds(p.in[operand].dims[2]).upper, 1); }
AttentionTile tile_of(const Config& c) {
  const auto at = [&](std::size_t i) { return static_cast<int>(c[i]); };
  return {at(0), at(1), at(2), at(3)};
}

// Scores and results are in registers at once if keys pass in steps, else one after the other.
bool fits(const Problem& p, const AttentionTile& t) {
  const AttentionProblem a = attention_problem(p);
  const int size = static_cast<int>(a.size);
  const int kept = t.keys >= upper(p, 1) ? std::max(t.keys / 2, t.keys / 4 + size / 2) : (t.keys + size) / 2;
  constexpr int kOther = 32, kForInstruction = 26, kRegisters = 65536;  // the last: beside the scores, before registers are shared out
  return t.shared_bytes(a) <= kSharedBytes && kept + kOther <= t.registers() &&
         std::max(t.keys, size) / 2 + kForInstruction <= std::min(255, kRegisters / t.threads() / 32 * 32);
}

std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  const int64_t keys = upper(p, 1), groups = std::min(ceil_div(upper(p, 0), int64_t{64}), kMaxGroups);
  // {groups, teams, keys of a step at most}
  constexpr int64_t kTiles[][3] = {{2, 2, 128}, {4, 1, 128}, {2, 1, 208}, {3, 1, 128}, {1, 4, 128},
                                   {1, 3, 128}, {2, 2, 96},  {4, 1, 96},  {2, 1, 128}, {1, 2, 64}};
  for (const auto& t : kTiles) {
    if (t[0] > groups) continue;
    const int64_t steps = ceil_div(keys, t[2]), step = ceil_div(ceil_div(keys, steps), int64_t{16}) * 16;
    for (int stages = kMaxStages; stages > 0; --stages) {  // as many as fit
      const Config c{t[0], t[1], step, stages};
      if (!fits(p, tile_of(c))) continue;
      if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
      break;
    }
  }
  return all;
}

// Whether addresses or strides may be such that a simple kernel has to run, or there may be no keys or very many units.
bool may_be_misaligned(const Problem& p) {
  const auto odd = [](const OperandDesc& o, int bytes) {
    const ir::Dims all = o.dense ? strides(o.layout, o.dims) : o.strides;
    return std::any_of(all.begin(), all.end() - 1, [&](ir::Dim s) {
      return !(s * ir::Dim(bits(o.dtype) / 8)).divisible_by(bytes);
    });
  };
  const OperandDesc& y = p.out[0];
  const ir::Dims& q = p.in[0].dims;
  return p.may_be_misaligned() || odd(p.in[0], 16) || odd(p.in[1], 16) || odd(p.in[2], 16) ||
         odd(y, bits(y.dtype)) || p.bounds(p.in[1].dims[2]).lower < 1 || p.bounds(q[0] * q[1] * q[2]).upper >= kMaxUnits;
}

Verdict supports(const Problem& p) {
  if (Verdict v = attention_is_regular(p); !v) return v;
  if (has_offsets(p)) return Verdict::no("packed variable-length batches (cu_seqlens) are not supported");
  if (p.device->arch != 90) return Verdict::no("wgmma needs sm_90");
  if (driver() && !driver()->tensor_map_tiled) return Verdict::no("the driver is older than CUDA 12: it describes no tensors for TMA");
  if (p.in[0].dtype == DType::f32) return Verdict::no("f32 is computed without rounding to f16");
  const int64_t size = p.in[0].dims[3].constant();
  if (size != p.in[2].dims[3].constant()) return Verdict::no("values have another size than keys");
  if (size % 8 != 0 || (size > 64 && size != 128)) return Verdict::no("the head size is neither 128 nor a multiple of 8 up to 64");
  if (!(p.attributes->number("scale") > 0)) return Verdict::no("the scale is not positive");
  if (soft_cap(p) > kMaxCap) return Verdict::no("the soft cap is above 1000");
  if (upper(p, 1) > kMaxKeys) return Verdict::no("more than 8192 keys");
  if (Verdict v = may_be_misaligned(p) ? heads_fit_a_grid(p) : Verdict::ok(); !v) return v;
  return Verdict::only_if(!configs(p).empty(), "no tile fits registers and shared memory");
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4 || std::any_of(c.begin(), c.end(), [](int64_t n) { return n < 1; }) || c[0] * c[1] > kMaxGroups || c[2] % 16 != 0 ||
      c[2] > 256 || c[3] > kMaxStages)
    return Verdict::no("there is no such tile");
  return Verdict::only_if(fits(p, tile_of(c)), "the tile does not fit registers and shared memory");
}

struct Kernel {
  AttentionProblem problem;
  AttentionTile tile;
  int processors = 1;
  std::shared_ptr<const LoadedModule> module, simple_module;
  Function function = nullptr, simple = nullptr;  // the second for what TMA does not take
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->problem = attention_problem(p), k->tile = tile_of(c);
  Device& gpu = device_of(*p.device);
  const ir::Dim keys = p.in[1].dims[2];
  k->module = gpu.load(generate_attention_wgmma(k->problem, k->tile, keys.is_constant() ? keys.constant() : -1, upper(p, 1)), opening);
  k->function = k->module->function("attention", k->tile.shared_bytes(k->problem));
  k->processors = gpu.multiprocessors();
  if (may_be_misaligned(p)) {
    k->simple_module = gpu.load(generate_attention_simple(k->problem), opening);
    k->simple = k->simple_module->function("attention");
  }
  return k;
}

Status::Code run_simple(const Kernel& k, const RunArgs& args, const AttentionArguments& a) noexcept {
  if (!k.simple_module) return Status::failed;
  const Grid grid{a.queries, a.heads, a.batches};
  return launch(queue_of(args), k.simple, grid, kSimpleThreads, static_cast<unsigned>((a.keys + 3) / 4 * 16), &a, Start::early);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const AttentionArguments a = attention_arguments(args, k.problem.masked, 0);
  const int64_t units = ceil_div(a.queries, int64_t{k.tile.queries()}) * a.heads * a.batches;
  if (units == 0) return Status::ok;
  const auto bits_of = [](const void* pointer, const int64_t(&strides)[3], int bytes) {
    auto bits = reinterpret_cast<std::uintptr_t>(pointer);
    for (int64_t s : strides) bits |= static_cast<std::uintptr_t>(s * bytes);
    return bits;
  };
  const int y_bytes = bits(k.problem.out) / 8;   // eight results are written at once
  const auto read = bits_of(a.q, a.q_stride, 2) | bits_of(a.k, a.k_stride, 2) | bits_of(a.v, a.v_stride, 2);
  if (read % 16 != 0 || bits_of(a.y, a.y_stride, y_bytes) % static_cast<unsigned>(8 * y_bytes) != 0 || a.keys == 0 ||
      units >= kMaxUnits)
    return run_simple(k, args, a);
  AttentionWgmmaArguments w{};
  w.mask = a.mask, w.y = a.y;
  std::copy(std::begin(a.mask_stride), std::end(a.mask_stride), w.mask_stride);
  std::copy(std::begin(a.y_stride), std::end(a.y_stride), w.y_stride);
  w.queries = static_cast<int>(a.queries), w.keys = static_cast<int>(a.keys), w.heads = static_cast<int>(a.heads);
  w.group = static_cast<int>(a.group), w.batches = static_cast<int>(a.batches);
  const auto heads = [&](const void* data, int64_t rows, int64_t count, const int64_t(&strides)[3], int box, TensorMap& map) {
    return describe<4>({k.problem.dtype,
                        data,
                        {k.problem.size, rows, count, a.batches},
                        {attention_chunk(k.problem), box, 1, 1},
                        {strides[2], strides[1], strides[0]}},
                       map);
  };
  Status::Code code = heads(a.q, a.queries, a.heads, a.q_stride, k.tile.queries(), w.q);
  if (code == Status::ok) code = heads(a.k, a.keys, a.heads / a.group, a.k_stride, k.tile.keys, w.k);
  if (code == Status::ok) code = heads(a.v, a.keys, a.heads / a.group, a.v_stride, k.tile.keys, w.v);
  if (code != Status::ok) return code;
  return launch(queue_of(args), k.function, {static_cast<unsigned>(std::min<int64_t>(units, k.processors))},
                static_cast<unsigned>(k.tile.threads()), static_cast<unsigned>(k.tile.shared_bytes(k.problem)), &w,
                start_for((2 * a.queries * a.heads + 2 * a.keys * a.heads / a.group) * a.batches * k.problem.size * 2));
}

}  // namespace

Tactic cuda_attention_wgmma() {
  return {.name = "attention_wgmma",
          .ops = {"FusedAttention"},
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .open = open,
          .run = run,
          .work = attention_work,
          .cases = {"FusedAttention f16[1,2,197,64] f16[1,2,197,64] f16[1,2,197,64] scale=0.125",
                    "FusedAttention f16[1,2,150,24] f16[1,2,150,24] f16[1,2,150,24] causal=1 scale=0.2",
                    "FusedAttention f16[2,6,40,32] f16[2,2,70,32] f16[2,2,70,32] scale=0.2",
                    "FusedAttention bf16[1,2,33,128] bf16[1,2,70,128] bf16[1,2,70,128] scale=0.09",
                    "FusedAttention f16[3,4,128,32] f16[3,4,128,32] f16[3,4,128,32] f16[3,1,1,128](-9,0) scale=0.17",
                    "FusedAttention f16[2,2,100,64] f16[2,2,90,64] f16[2,2,90,64] f16[2,1,1,90](-9,0) scale=0.2",
                    "FusedAttention f16[12,6,128,32] f16[12,6,128,32] f16[12,6,128,32] f16[12,1,1,128](-9,0) "
                    "scale=0.17",  // for several blocks on a multiprocessor
                    "FusedAttention f16[9,4,197,64] f16[9,4,197,64] f16[9,4,197,64] scale=0.125",
                    "FusedAttention f16[12,12,40,32] f16[12,4,70,32] f16[12,4,70,32] scale=0.2",
                    "FusedAttention f16[2,2,130,64] f16[2,2,300,64] f16[2,2,300,64] f16[1,2,130,300](-9,0) "
                    "scale=0.125",
                    "FusedAttention f16[1,1,400,64] f16[1,1,400,64] f16[1,1,400,64] causal=1 scale=0.125",
                    "FusedAttention f16[1,2,197,64](-4,4) f16[1,2,197,64](-4,4) f16[1,2,197,64] scale=0.125 softcap=5.0",
                    "FusedAttention f16[1,4,400,128](-4,4) f16[1,2,400,128](-4,4) f16[1,2,400,128] causal=1 scale=0.09 softcap=50.0",
                    "FusedAttention bf16[2,2,100,64](-4,4) bf16[2,2,90,64](-4,4) bf16[2,2,90,64] bf16[2,1,1,90](-9,0) "
                    "scale=0.2 softcap=5.0",
                    "FusedAttention f16[2,2,130,64](-4,4) f16[2,2,300,64](-4,4) f16[2,2,300,64] f16[1,2,130,300](-9,0) "
                    "scale=0.125 softcap=5.0",
                    "FusedAttention f16[59,6,65,16] f16[59,6,65,16] f16[59,6,65,16] f16[59,1,1,65](-9,0) scale=0.25",
                    "FusedAttention bf16[1,3,128,32] bf16[1,3,128,32] bf16[1,3,128,32] bf16[1,1,1,128](-9,0) "
                    "scale=0.17",
                    "FusedAttention bf16[1,2,197,64] bf16[1,2,197,64] bf16[1,2,197,64] scale=0.125",
                    "FusedAttention bf16[1,2,40,32] bf16[1,2,90,32] bf16[1,2,90,32] "
                    "f32[1,1,1,90](-3.4028234e38,-3.4028234e38) scale=0.17",
                    "FusedAttention bf16[1,2,40,32] bf16[1,2,90,32] bf16[1,2,90,32] "
                    "bf16[1,1,40,90](-3.3895e38,-3.3895e38) scale=0.17",
                    "FusedAttention bf16[2,2,130,64] bf16[2,2,300,64] bf16[2,2,300,64] "
                    "f32[2,1,1,300](-3.4028234e38,-3.4028234e38) scale=0.125",
                    "FusedAttention bf16[2,2,130,64] bf16[2,2,300,64] bf16[2,2,300,64] "
                    "f32[1,2,130,300](-3.4028234e38,-3.4028234e38) scale=0.125",
                    "FusedAttention bf16[1,2,1,64] bf16[1,2,601,64] bf16[1,2,601,64] bf16[1,2,1,601](-9,0) "
                    "scale=0.125"}};
}

}  // namespace tenfold::backends
