// Speed of the f32 products and convolutions on shapes of real networks, as a share of this machine's measured FMA peak.
//
//   gemm_bench [threads=1] [filter]     every tactic and config of each shape whose line contains the filter; best of each tactic
//   gemm_bench [threads=1] 'MatMul f32[3,77,5] f32[5,9]!'     of this problem, which need not be in the list
//   gemm_bench THREADS peaks            only the machine: FMA rate, memory's rate, instruction sets (for tools/step_profile.py)
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "backends/cpu/cpu_info.h"
#include "backends/code.h"
#include "backends/tactic.h"
#include "base/threads/thread_pool.h"
#include "ir/scan.h"
#include "ops/cases.h"

namespace tenfold::backends {
Tactic cpu_matmul_packed();
Tactic cpu_matmul_batched();
Tactic cpu_matmul_gemv_f24();
Tactic cpu_matmul_strassen();
Tactic cpu_matmul_amx_s24();
Tactic cpu_matmul_amx_split();
Tactic cpu_matmul_amx_whole();
Tactic cpu_matmul_gemv_s16();
Tactic cpu_conv_igemm();
Tactic cpu_conv_depthwise();
Tactic cpu_conv_depthwise_bf16();
Tactic cpu_conv_grouped();
Tactic cpu_conv_first();
Tactic cpu_conv_winograd();
Tactic cpu_conv_transpose_gemm();
}  // namespace tenfold::backends

namespace {

using namespace tenfold;
using namespace tenfold::backends;

struct Line {
  const char *op, *text, *body = "", *extra = "";
};
constexpr const char* kBias = "(f32,f32) %2=add.f32(%0,%1) -> %2";
constexpr const char* kRelu = "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4";
const Line kShapes[] = {
    {"MatMul", "f32[128,768] f32[768,768]!", kBias, "f32[768]!"},  // BERT-base, sequence 128
    {"MatMul", "f32[128,768] f32[768,3072]!", kBias, "f32[3072]!"},
    {"MatMul", "f32[128,3072] f32[3072,768]!", kBias, "f32[768]!"},
    {"MatMul", "f32[128,384] f32[384,384]!", kBias, "f32[384]!"},  // MiniLM
    {"MatMul", "f32[128,384] f32[384,1536]!", kBias, "f32[1536]!"},
    {"MatMul", "f32[128,1536] f32[1536,384]!", kBias, "f32[384]!"},
    {"MatMul", "f32[16,384] f32[384,384]!", kBias, "f32[384]!"},
    {"MatMul", "f32[16,384] f32[384,1536]!", kBias, "f32[1536]!"},
    {"MatMul", "f32[16,1536] f32[1536,384]!", kBias, "f32[384]!"},
    {"MatMul", "f32[197,768] f32[768,3072]!", kBias, "f32[3072]!"},  // ViT
    {"MatMul", "f32[197,768] f32[768,768]!", kBias, "f32[768]!"},
    {"MatMul", "f32[197,3072] f32[3072,768]!", kBias, "f32[768]!"},
    {"MatMul", "f32[1024,384] f32[384,384]!", kBias, "f32[384]!"},  // MiniLM, batch 8
    {"MatMul", "f32[1024,384] f32[384,1536]!", kBias, "f32[1536]!"},
    {"MatMul", "f32[1024,1536] f32[1536,384]!", kBias, "f32[384]!"},
    {"MatMul", "f32[1,256] f32[256,256]!", kRelu, "f32[256]!"},      // MLP
    {"MatMul", "f32[1,256] f32[256,10]!", kBias, "f32[10]!"},
    {"MatMul", "f32[1,2048] f32[2048,1000]!", kBias, "f32[1000]!"},
    {"MatMul", "f32[12,128,64] f32[12,64,128]"},  // attention without fusion
    {"MatMul", "f32[12,128,128] f32[12,128,64]"},
    {"Conv", "f32[1,3,224,224] f32[64,3,7,7]! f32[64]! pads=[3,3,3,3] strides=[2,2]"},  // ResNet-50
    {"Conv", "f32[1,64,56,56] f32[64,64,1,1]! f32[64]!"},
    {"Conv", "f32[1,64,56,56] f32[64,64,3,3]! f32[64]! pads=[1,1,1,1]"},
    {"Conv", "f32[1,64,56,56] f32[256,64,1,1]! f32[256]!"},
    {"Conv", "f32[1,256,56,56] f32[128,256,1,1]! f32[128]!"},
    {"Conv", "f32[1,128,56,56] f32[128,128,3,3]! f32[128]! pads=[1,1,1,1] strides=[2,2]"},
    {"Conv", "f32[1,128,28,28] f32[128,128,3,3]! f32[128]! pads=[1,1,1,1]"},
    {"Conv", "f32[1,256,14,14] f32[256,256,3,3]! f32[256]! pads=[1,1,1,1]"},
    {"Conv", "f32[1,1024,14,14] f32[256,1024,1,1]! f32[256]!"},
    {"Conv", "f32[1,256,14,14] f32[1024,256,1,1]! f32[1024]!"},
    {"Conv", "f32[1,512,7,7] f32[512,512,3,3]! f32[512]! pads=[1,1,1,1]"},
    {"Conv", "f32[1,512,7,7] f32[2048,512,1,1]! f32[2048]!"},
    {"Conv", "f32[1,3,224,224] f32[32,3,3,3]! f32[32]! pads=[1,1,1,1] strides=[2,2]"},  // MobileNet-v2
    {"Conv", "f32[1,32,112,112] f32[32,1,3,3]! f32[32]! group=32 pads=[1,1,1,1]"},
    {"Conv", "f32[1,96,112,112] f32[96,1,3,3]! f32[96]! group=96 pads=[1,1,1,1] strides=[2,2]"},
    {"Conv", "f32[1,144,56,56] f32[144,1,3,3]! f32[144]! group=144 pads=[1,1,1,1]"},
    {"Conv", "f32[1,384,14,14] f32[384,1,3,3]! f32[384]! group=384 pads=[1,1,1,1]"},
    {"Conv", "f32[1,960,7,7] f32[960,1,3,3]! f32[960]! group=960 pads=[1,1,1,1]"},
    {"Conv", "bf16[1,32,112,112] bf16[32,1,3,3]! bf16[32]! group=32 pads=[1,1,1,1]"},
    {"Conv", "bf16[1,96,112,112] bf16[96,1,3,3]! bf16[96]! group=96 pads=[1,1,1,1] strides=[2,2]"},
    {"Conv", "bf16[1,144,56,56] bf16[144,1,3,3]! bf16[144]! group=144 pads=[1,1,1,1]"},
    {"Conv", "bf16[1,384,14,14] bf16[384,1,3,3]! bf16[384]! group=384 pads=[1,1,1,1]"},
    {"Conv", "bf16[1,960,7,7] bf16[960,1,3,3]! bf16[960]! group=960 pads=[1,1,1,1]"},
    {"Conv", "f32[1,32,112,112] f32[16,32,1,1]! f32[16]!"},
    {"Conv", "f32[1,16,112,112] f32[96,16,1,1]! f32[96]!"},
    {"Conv", "f32[1,96,56,56] f32[24,96,1,1]! f32[24]!"},
    {"Conv", "f32[1,24,56,56] f32[144,24,1,1]! f32[144]!"},
    {"Conv", "f32[1,144,56,56] f32[24,144,1,1]! f32[24]!"},
    {"Conv", "f32[1,64,14,14] f32[384,64,1,1]! f32[384]!"},
    {"Conv", "f32[1,320,7,7] f32[1280,320,1,1]! f32[1280]!"},
    {"Conv", "f32[1,3,32,32] f32[32,3,3,3]! f32[32]! pads=[1,1,1,1]"},  // small CNN
    {"Conv", "f32[1,32,16,16] f32[64,32,3,3]! f32[64]! pads=[1,1,1,1]"},
    {"Conv", "f32[1,1,64,64,64] f32[32,1,3,3,3]! f32[32]! pads=[1,1,1,1,1,1]"},  // 3-D U-Net
    {"Conv", "f32[1,32,64,64,64] f32[32,32,3,3,3]! f32[32]! pads=[1,1,1,1,1,1]"},
    {"Conv", "f32[1,64,32,32,32] f32[64,64,3,3,3]! f32[64]! pads=[1,1,1,1,1,1]"},
    {"Conv", "f32[1,256,8,8,8] f32[256,256,3,3,3]! f32[256]! pads=[1,1,1,1,1,1]"},
    {"ConvTranspose", "f32[1,64,32,32,32] f32[64,32,2,2,2]! f32[32]! strides=[2,2,2]"},
};

// The shortest of many calls: other work on the machine only ever adds time. One thread is timed by its own clock.
template <class F>
double shortest(F&& call, bool own_clock) {
  const auto now = [&] {
    timespec t;
    clock_gettime(own_clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  };
  call();
  double best = 1e18, total = 0;
  for (int runs = 0, repeat = 1; runs < 5 || (total < 2e7 && runs < 500); ++runs) {
    const double start = now();
    for (int i = 0; i < repeat; ++i) call();
    const double spent = now() - start;
    total += spent;
    best = std::min(best, spent / repeat);
    if (spent < 2e4) repeat *= 2;  // far above the clock's own cost
  }
  return best;
}

// One shape bound to memory, in the layouts and the config of a tactic.
class Bench {
 public:
  explicit Bench(const Line& shape) : graph_(ir::Registry::builtin()) {
    const ir::OpDef& op = ir::Registry::builtin().get(shape.op);
    const ops::Case parsed = ops::parse_case(op, shape.text);
    ir::Node node;
    node.def = &op;
    node.attributes = parsed.attributes, node.numerics = parsed.numerics;
    for (const ops::CaseOperand& o : parsed.operands) add(node, o);
    if (*shape.body) {
      ir::Scanner scanner(shape.body);
      node.body = ir::parse_body(scanner);
      node.anchor_inputs = static_cast<int>(node.inputs.size());
      add(node, ops::parse_case(op, shape.extra, 7).operands[0]);
    }
    node_ = graph_.add(std::move(node), 1);
    problem_.op = node_->def;
    problem_.attributes = &node_->attributes, problem_.numerics = node_->numerics;
    problem_.body = node_->body ? &*node_->body : nullptr;
    problem_.anchor_inputs = node_->anchor_inputs < 0 ? static_cast<int>(node_->inputs.size()) : node_->anchor_inputs;
    problem_.device = &cpu::this_cpu();
    for (const ir::Value* v : node_->inputs)
      problem_.in.push_back({.dtype = v->dtype(), .dims = v->dims(), .layout = {}, .constant = v->is_constant()});
    problem_.out.push_back({.dtype = node_->out()->dtype(), .dims = node_->out()->dims(), .layout = {}});
  }

  // Nanoseconds of the tactic's best config; 0 if it refuses.
  double best(const Tactic& tactic, Parallel& parallel, std::string& which) {
    if (!tactic.computes(*problem_.op)) return 0;
    double best = 0;
    for (const Formats& f :
         tactic.formats ? tactic.formats(problem_) : std::vector<Formats>{{std::vector<Layout>(problem_.in.size()), {Layout{}}}}) {
      Problem p = problem_;
      for (std::size_t i = 0; i < p.in.size(); ++i) p.in[i].layout = f.in[i];
      p.out[0].layout = f.out[0];
      if (!tactic.supports(p)) continue;
      for (const Config& config : tactic.configs(p)) {
        const double ns = time(tactic, p, config, parallel);
        if (best > 0 && ns >= best) continue;
        best = ns;
        which = "{";
        for (const std::int64_t v : config) which += std::to_string(v) + (&v == &config.back() ? "}" : ",");
      }
    }
    return best;
  }
  double flops(const Tactic& tactic) const { return tactic.work(problem_); }

 private:
  void add(ir::Node& node, const ops::CaseOperand& o) {
    data_.push_back(o.data);
    const std::string name = "x" + std::to_string(data_.size());
    node.inputs.push_back(o.constant ? graph_.add_constant(o.data, name)
                                     : graph_.add_input(name, {.tensor = {o.data.dtype(), ir::to_dims(o.data.shape())}}));
  }

  static std::shared_ptr<void> memory(std::int64_t bytes) {
    return {std::aligned_alloc(4096, static_cast<std::size_t>(bytes / 4096 + 1) * 4096), std::free};
  }

  double time(const Tactic& tactic, const Problem& p, const Config& config, Parallel& parallel) const {
    std::vector<std::vector<std::int64_t>> numbers;
    std::vector<std::shared_ptr<void>> kept;
    std::vector<const Tensor*> constants;
    for (std::size_t i = 0; i < data_.size(); ++i) constants.push_back(p.in[i].constant ? &data_[i] : nullptr);
    numbers.reserve(4 * data_.size() + 4);
    const auto bind = [&](const OperandDesc& o, void* data) {
      numbers.push_back(ir::constants(o.dims));
      const std::int64_t* dims = numbers.back().data();
      numbers.push_back(ir::constants(strides(o.layout, o.dims)));
      return Bound{data, dims, numbers.back().data(), static_cast<int>(o.dims.size())};
    };
    std::vector<Bound> in;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const std::int64_t bytes = p.in[i].constant && tactic.packed_bytes ? tactic.packed_bytes(p, config, static_cast<int>(i)) : -1;
      if (bytes >= 0) {
        kept.push_back(memory(bytes));
        tactic.pack(p, config, static_cast<int>(i), constants, kept.back().get());
      }
      in.push_back(bind(p.in[i], bytes >= 0 ? kept.back().get() : const_cast<void*>(data_[i].raw())));
    }
    kept.push_back(memory(storage_elements(p.out[0].layout, p.out[0].dims).constant() * 4));
    const std::vector<Bound> out{bind(p.out[0], kept.back().get())};
    kept.push_back(memory(tactic.workspace ? tactic.workspace(p, config).constant() : 0));
    void* const workspace = kept.back().get();
    const std::int64_t stride = tactic.worker_scratch ? scratch_stride(tactic.worker_scratch(p, config).constant()) : 0;
    kept.push_back(memory(stride * parallel.workers()));
    const RunArgs args{in, out, workspace, &parallel, kept.back().get(), stride};
    Opening opening;
    const auto kernel = tactic.open(p, config, opening);
    return shortest([&] { tactic.run(kernel.get(), args); }, parallel.workers() == 1);
  }

  ir::Graph graph_;
  ir::Node* node_ = nullptr;
  Problem problem_;
  std::vector<Tensor> data_;
};

// Twelve independent chains of FMAs on the widest vectors, GFLOP/s of one core. A CPU may have one port for the widest or two.
double peak_slice(bool wide) {
  constexpr int kLoops = 20000;
  const auto start = std::chrono::steady_clock::now();
#define CHAIN(v, n) "vfmadd231ps %%" #v "14,%%" #v "15,%%" #v #n "\n"
#define CHAINS(v)                                                                                                             \
  CHAIN(v, 0) CHAIN(v, 1) CHAIN(v, 2) CHAIN(v, 3) CHAIN(v, 4) CHAIN(v, 5) CHAIN(v, 6) CHAIN(v, 7) CHAIN(v, 8) CHAIN(v, 9) \
      CHAIN(v, 10) CHAIN(v, 11)
  for (int i = 0; i < kLoops; ++i) {  // whatever the registers hold: the speed is the same, for results are thrown away
    if (wide)
      asm volatile(CHAINS(zmm)::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
    else
      asm volatile(CHAINS(ymm)::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
  }
#undef CHAINS
#undef CHAIN
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return 2.0 * (wide ? 16 : 8) * 12 * kLoops / seconds / 1e9;
}
double peak() {
  double best = 0;
  for (int i = 0; i < 300; ++i) best = std::max(best, peak_slice((cpu::this_cpu().features & kAvx512) != 0));
  return best;
}

// GB/s that `threads` threads read together from memory that no cache holds.
double memory_rate(Parallel& parallel, int threads) {
  using Four = float __attribute__((vector_size(16)));
  constexpr std::int64_t kPart = 6 << 20;  // of 16 bytes each
  const std::vector<Four> data(static_cast<std::size_t>(kPart * threads), Four{1, 1, 1, 1});
  std::vector<Four> sums(static_cast<std::size_t>(threads) * 16);
  const auto read = [&](std::int64_t part, int) noexcept {
    Four a{}, b{}, c{}, d{};
    for (const Four *p = data.data() + part * kPart, *end = p + kPart; p < end; p += 4) a += p[0], b += p[1], c += p[2], d += p[3];
    sums[static_cast<std::size_t>(part) * 16] = a + b + c + d;
  };
  return 16.0 * static_cast<double>(kPart * threads) / shortest([&] { parallel.for_each(threads, read); }, false);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const char* filter = argc > 2 ? argv[2] : "";
  ThreadPool pool({.threads = threads});
  const double all = peak() * threads;
  std::printf("%s, %d thread(s), peak %.1f GFLOP/s\n", cpu::this_cpu().name.c_str(), threads, all);
  if (std::string_view(filter) == "peaks") {
    std::printf("memory %.1f GB/s, features %s\n", memory_rate(pool, threads), feature_text(cpu::this_cpu().features).c_str());
    return 0;
  }
  const std::vector<Tactic> tactics{cpu_matmul_packed(), cpu_matmul_batched(),     cpu_matmul_gemv_f24(), cpu_matmul_strassen(),
                                    cpu_conv_igemm(),    cpu_conv_depthwise(),     cpu_conv_grouped(),    cpu_conv_first(),
                                    cpu_conv_winograd(), cpu_conv_transpose_gemm(), cpu_conv_depthwise_bf16(),
                                    cpu_matmul_amx_split(), cpu_matmul_amx_whole(), cpu_matmul_amx_s24(),
                                    cpu_matmul_gemv_s16()};
  std::vector<Line> shapes;
  for (const Line& shape : kShapes)
    if ((std::string(shape.op) + " " + shape.text).find(filter) != std::string::npos) shapes.push_back(shape);
  const std::string own(filter), op = own.substr(0, own.find(' '));
  if (shapes.empty() && own.find('[') != std::string::npos) shapes.push_back({op.c_str(), filter + op.size() + 1});
  for (const Line& shape : shapes) {
    const std::string line = std::string(shape.op) + " " + shape.text;
    Bench bench(shape);
    for (const Tactic& tactic : tactics) {
      std::string config;
      const double ns = bench.best(tactic, pool, config);
      if (ns == 0) continue;
      const double rate = bench.flops(tactic) / ns;
      std::printf("%9.1f us %7.1f GFLOP/s %5.1f %%  %-15s %-20s %s\n", ns / 1e3, rate, 100 * rate / all, tactic.name.c_str(),
                  config.c_str(), line.c_str());
    }
  }
}
