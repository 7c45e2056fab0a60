// Every tactic and configuration of a GPU on problems of one node, results compared with each other, times from a graph of launches:
// what docs/lab/gpu-products.md was made with.
//
//   gpu_bench problems.txt [filter [tactic]]     lines "name | graph in text form"; those whose line contains the filter; only tactics
//                                                whose name contains that
//   gpu_bench limits                    what parts of a Hopper GPU can do (docs/lab/gpu-limits.md)
//   gpu_bench copies                    the GPU's copy speed, for problems that only move data (gpu_memory_problems.txt)
//
// Operands of FusedAttention lie as they do in an encoder: queries, keys and values side by side for each token. Where a problem's name
// says "channels-last", its first operand and its results do.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "backends/backend.h"
#include "backends/code.h"
#include "backends/tactic_set.h"
#include "base/check.h"
#include "gpu_limits.h"
#include "ir/op_def.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace {

using namespace tenfold;
using namespace tenfold::backends;
using Strides = std::vector<std::int64_t>;

struct Operand {
  Tensor data;
  Strides strides;
  std::shared_ptr<void> room;  // keeps `address`, which may lie within it, alive
  void* address = nullptr;
};

// Random values that repeat after a while: making 100 million takes longer than timing kernels on them.
Tensor random_values(DType dtype, const Shape& shape, std::uint64_t seed) {
  constexpr std::int64_t kPeriod = (1 << 20) + 7;
  constexpr double kIndices = 4095;   // rows of a table to gather from
  const auto some = [&](const Shape& s) {
    return is_integer(dtype) ? ops::random_tensor(dtype, s, seed, 0, kIndices) : ops::random_tensor(dtype, s, seed);
  };
  Tensor all(dtype, shape);
  if (all.size() <= kPeriod || bits(dtype) < 8) return some(shape);
  const Tensor few = some({kPeriod});
  for (std::int64_t at = 0; at < all.bytes(); at += few.bytes())
    std::memcpy(static_cast<char*>(all.mutable_raw()) + at, few.raw(), static_cast<std::size_t>(std::min(few.bytes(), all.bytes() - at)));
  return all;
}

class Bench {
 public:
  Bench(std::string name, ir::Graph graph, std::string tactic)
      : name_(std::move(name)), graph_(std::move(graph)), node_(*graph_.nodes().front()), op_(*node_.def), filter_(std::move(tactic)) {
    const ir::Node& node = node_;
    problem_.op = &op_, problem_.attributes = &node.attributes, problem_.body = node.body ? &*node.body : nullptr;
    problem_.anchor_inputs = node.anchor_inputs < 0 ? static_cast<int>(node.inputs.size()) : node.anchor_inputs;
    problem_.device = &backend_->info();
    for (const ir::Value* v : node.inputs) in_.push_back(add(v, problem_.in));
    for (const ir::Value* v : node.outputs) outs_.push_back(add(v, problem_.out));
    if (op_.name == "FusedAttention") lay_side_by_side();
  }

  // Compiles on all cores, if tenfold-nvrtc lies beside this program.
  void start_compiling() {
    Opening ahead{.ahead = true};
    for_each([&](const Tactic& tactic, const Config& config) {
      if (tactic.source == Source::native) tactic.open(problem_, config, ahead);
    });
  }
  void run() {
    std::printf("%s\n", name_.c_str());
    std::vector<double> first;
    for_each([&](const Tactic& tactic, const Config& config) { time_one(tactic, config, first); });
  }

 private:
  bool takes_layouts(const Tactic& tactic) const {
    const Formats plain{std::vector<Layout>(problem_.in.size()), std::vector<Layout>(problem_.out.size())};
    const std::vector<Formats> offered = tactic.formats ? tactic.formats(problem_) : std::vector<Formats>{plain};
    return std::any_of(offered.begin(), offered.end(), [&](const Formats& f) {
      const auto same = [](const Layout& layout, const OperandDesc& d) { return layout == d.layout; };
      return std::equal(f.in.begin(), f.in.end(), problem_.in.begin(), problem_.in.end(), same) &&
             std::equal(f.out.begin(), f.out.end(), problem_.out.begin(), problem_.out.end(), same);
    });
  }
  template <class F>
  void for_each(F&& f) {
    for (const Tactic* tactic : TacticSet(*backend_).of(op_)) {
      if (tactic->source == Source::reference || tactic->name.find(filter_) == std::string::npos || !tactic->supports(problem_)) continue;
      if (!takes_layouts(*tactic)) continue;
      for (const Config& config : tactic->configs(problem_)) f(*tactic, config);
    }
  }
  Operand add(const ir::Value* v, std::vector<OperandDesc>& all) {
    OperandDesc& d = all.emplace_back();
    d.missing = v == nullptr;
    if (!v) return {};
    d.dtype = v->dtype(), d.dims = v->dims(), d.constant = v->is_constant();
    Operand o;
    const Shape shape = ir::constants(d.dims);
    o.data = d.constant ? v->constant->tensor : random_values(d.dtype, shape, 7 + all.size());
    if (all.size() == 1 && name_.find("channels-last") != std::string::npos) d.layout = kChannelsLast;
    o.strides = ir::constants(strides(d.layout, d.dims));
    o.room = place(o.data.raw(), o.data.bytes()), o.address = o.room.get();
    return o;
  }
  std::shared_ptr<void> place(const void* data, std::int64_t bytes) {
    std::shared_ptr<void> room = backend_->memory().allocate(std::max<std::int64_t>(bytes, 64));
    stream_->copy(room.get(), data, bytes), stream_->wait();
    return room;
  }
  // [batch, heads, tokens, size] as views of [batch, tokens, 3, heads, size], the result of [batch, tokens, heads, size].
  void lay_side_by_side() {
    const Shape s = in_[0].data.shape();
    const auto view = [&](std::int64_t parts) { return Strides{s[2] * parts * s[1] * s[3], s[3], parts * s[1] * s[3], 1}; };
    const Tensor all = ops::random_tensor(in_[0].data.dtype(), {s[0] * s[2] * 3 * s[1] * s[3]}, 3);
    const std::shared_ptr<void> room = place(all.raw(), all.bytes());
    const auto set = [](Operand& o, OperandDesc& d, const Strides& strides) {
      o.strides = strides, d.dense = false;
      d.strides = ir::to_dims(strides);
    };
    for (std::size_t i = 0; i < 3; ++i) {
      set(in_[i], problem_.in[i], view(3));
      in_[i].room = room;
      in_[i].address = static_cast<char*>(room.get()) + static_cast<std::int64_t>(i) * s[1] * s[3] * bits(all.dtype()) / 8;
    }
    set(outs_[0], problem_.out[0], view(1));
  }

  Bound bound(const Operand& o) const { return {o.address, o.data.shape().data(), o.strides.data(), o.data.rank()}; }

  void time_one(const Tactic& tactic, const Config& config, std::vector<double>& first) try {
    std::vector<Bound> in;
    std::vector<std::shared_ptr<void>> packed;
    std::vector<const Tensor*> constants;
    for (std::size_t i = 0; i < in_.size(); ++i) constants.push_back(problem_.in[i].constant ? &in_[i].data : nullptr);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      in.push_back(problem_.in[i].missing ? Bound{} : bound(in_[i]));
      const std::int64_t bytes =
          constants[i] && tactic.packed_bytes ? tactic.packed_bytes(problem_, config, static_cast<int>(i)) : -1;
      if (bytes < 0) continue;
      std::vector<char> host(static_cast<std::size_t>(bytes));
      tactic.pack(problem_, config, static_cast<int>(i), constants, host.data());
      in.back().data = packed.emplace_back(place(host.data(), bytes)).get();
    }
    const std::int64_t bytes = tactic.workspace ? tactic.workspace(problem_, config).constant() : 0;
    const std::shared_ptr<void> workspace = backend_->memory().allocate(std::max<std::int64_t>(bytes, 64));
    std::vector<Bound> out;
    for (const Operand& o : outs_) out.push_back(bound(o));
    Opening opening;
    const auto kernel = tactic.open(problem_, config, opening);
    const RunArgs args{in, out, workspace.get()};
    for (const Operand& o : outs_) stream_->fill(o.address, 0xff, o.data.bytes());  // NaN: what is not written shows
    const Status::Code code = stream_->launch(tactic, kernel.get(), args);
    if (code != Status::ok || stream_->wait() != Status::ok) throw std::runtime_error(std::string(stream_->error()));
    const double error = difference(first);
    const double us = backend_->timing().measure(*stream_, tactic, kernel.get(), args, {.min_ms = 5}) / 1000;
    std::printf("  %-16s", tactic.name.c_str());
    for (std::int64_t c : config) std::printf(" %lld", static_cast<long long>(c));
    if (tactic.work) std::printf("  %.2f us  %.0f TFLOP/s", us, tactic.work(problem_) / us / 1e6);
    else std::printf("  %.2f us  %.2f TB/s", us, static_cast<double>(moved()) / us / 1e6);
    const double allowed = bits(outs_[0].data.dtype()) == 8 ? 8e-2 : 4e-3;  // in e4m3 one step of the largest
    std::printf("  differs by %.1e%s\n", error, error < allowed ? "" : "  WRONG");
    std::fflush(stdout);
  } catch (const std::exception& e) {
    std::printf("  %s failed: %s\n", tactic.name.c_str(), e.what());
  }

  // Bytes that are read or written at least once.
  std::int64_t moved() const {
    std::int64_t bytes = 0;
    for (const auto* side : {&in_, &outs_})
      for (const Operand& o : *side) bytes += o.data.bytes();
    return bytes;
  }

  // Of 4,000 elements of the first result, from the first tactic's, relative to the largest.
  double difference(std::vector<double>& first) {
    const Operand& out = outs_[0];
    Tensor y(out.data.dtype(), out.data.shape());
    stream_->copy(y.mutable_raw(), out.address, y.bytes()), stream_->wait();
    double largest = 1e-30, error = 0;
    const bool reference = first.empty();
    const std::int64_t step = std::max<std::int64_t>(1, y.size() / 4000 | 1);
    std::size_t at = 0;
    for (std::int64_t i = 0; i < y.size(); i += step, ++at) {
      const double x = y.as_double(i);
      if (reference) first.push_back(x);
      largest = std::max(largest, std::fabs(first[at]));
      error = std::isnan(x) ? 1e9 : std::max(error, std::fabs(x - first[at]));
    }
    return error / largest;
  }

  std::string name_;
  ir::Graph graph_;
  const ir::Node& node_;
  const ir::OpDef& op_;
  std::string filter_;
  std::shared_ptr<Backend> backend_ = open_backend("cuda:0");
  std::unique_ptr<Stream> stream_ = backend_->open_stream({});
  Problem problem_;
  std::vector<Operand> in_;
  std::vector<Operand> outs_;
};

// What the driver's own copy of so many bytes within the GPU's memory reaches, read and written: the measure for whatever only moves data.
void time_copies() {
  const std::shared_ptr<Backend> backend = open_backend("cuda:0");
  const std::unique_ptr<Stream> stream = backend->open_stream({});
  for (const std::int64_t bytes : {std::int64_t{256} << 20, std::int64_t{32} << 20, std::int64_t{1} << 20}) {
    const auto from = backend->memory().allocate(bytes), to = backend->memory().allocate(bytes);
    constexpr int kCopies = 200;
    double best = 1e30;
    for (int round = 0; round < 5; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kCopies; ++i) stream->copy(to.get(), from.get(), bytes);
      stream->wait();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kCopies);
    }
    std::printf("copy of %lld MiB: %.2f us  %.2f TB/s\n", static_cast<long long>(bytes >> 20), best * 1e6,
                2e-12 * static_cast<double>(bytes) / best);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw std::runtime_error("usage: gpu_bench copies | limits | problems.txt [filter [tactic]]");
  if (std::string_view(argv[1]) == "copies") return time_copies(), 0;
  if (std::string_view(argv[1]) == "limits") return bench::measure_gpu_limits(), 0;
  std::ifstream file(argv[1]);
  if (!file) throw std::runtime_error(cat("cannot read ", argv[1]));
  std::vector<std::unique_ptr<Bench>> all;
  for (std::string line; std::getline(file, line);) {
    const std::size_t bar = line.find('|');
    if (line.empty() || line[0] == '#' || bar == std::string::npos || (argc > 2 && line.find(argv[2]) == std::string::npos)) continue;
    std::string text = line.substr(bar + 1);
    for (std::size_t at; (at = text.find(';')) != std::string::npos;) text[at] = '\n';
    const auto constant = [](DType dtype, const Shape& shape, std::uint64_t seed) {
      return ops::random_tensor(dtype, shape, seed, -0.05, 0.05);
    };
    ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = constant});
    all.push_back(std::make_unique<Bench>(line.substr(0, bar), std::move(graph), argc > 3 ? argv[3] : ""));
  }
  for (const auto& bench : all) bench->start_compiling();
  for (const auto& bench : all) bench->run();
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
