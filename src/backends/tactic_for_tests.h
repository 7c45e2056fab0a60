// Runs one tactic on a one-node graph, as a build and a run would, for tests against the reference kernels.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/backend.h"
#include "backends/code.h"
#include "backends/cuda/device/compiler.h"
#include "base/checked.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold::backends::testing {

// A stream of workers that hands parts out back to front and claims several workers, to catch reliance on their order.
class Backwards final : public Parallel {
 public:
  explicit Backwards(int workers = 3) : workers_(workers) {}
  void run(std::int64_t parts, Function function, void* context) noexcept override {
    for (std::int64_t part = parts; part-- > 0;) function(context, part, static_cast<int>(part % workers_));
  }
  int workers() const noexcept override { return workers_; }

 private:
  int workers_;
};

// Where a tactic runs: memory that it can reach, and the launch.
class Target {
 public:
  virtual ~Target() = default;
  // A copy of them; `odd`: behind an address that is aligned, as views lie.
  virtual void* place(const void* host, std::int64_t bytes, std::int64_t alignment = 64, bool odd = false) = 0;
  virtual void fetch(void* host, const void* placed, std::int64_t bytes) = 0;  // back, after the launch
  virtual Status::Code launch(const Tactic& tactic, const void* kernel, RunArgs args) = 0;
  virtual int workers() const = 0;
};

// In memory of the test's own that ends where it must, by workers of the test's choice.
class OnHost final : public Target {
 public:
  explicit OnHost(Parallel& parallel) : parallel_(parallel) {}
  // Before a page that may not be touched: reading or writing past an end is a fault.
  void* place(const void* host, std::int64_t bytes, std::int64_t alignment, bool) override {
    constexpr std::int64_t kPage = 4096;
    const auto whole = static_cast<std::size_t>(round_up(bytes, kPage)), mapped = whole + kPage;
    auto* const pages = static_cast<std::byte*>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (pages == MAP_FAILED) throw std::bad_alloc();
    memory_.emplace_back(pages, [mapped](std::byte* p) { munmap(p, mapped); });
    EXPECT_EQ(mprotect(pages + whole, kPage, PROT_NONE), 0);
    std::byte* const start = pages + whole - round_up(bytes, alignment);
    if (host && bytes > 0) std::memcpy(start, host, static_cast<std::size_t>(bytes));
    return start;
  }
  void fetch(void* to, const void* from, std::int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  Status::Code launch(const Tactic& tactic, const void* kernel, RunArgs args) override {
    args.parallel = &parallel_;
    return tactic.run(kernel, args);
  }
  int workers() const override { return parallel_.workers(); }

 private:
  Parallel& parallel_;
  std::vector<std::shared_ptr<std::byte>> memory_;
};

// In the backend's memory, on a stream of its: what the runtime does.
class OnStream final : public Target {
 public:
  explicit OnStream(Backend& backend, int threads = 1) : backend_(backend), stream_(backend.open_stream({.threads = threads})) {}
  void* place(const void* host, std::int64_t bytes, std::int64_t alignment, bool odd) override {
    const std::int64_t before = odd ? alignment : 0;
    void* const start = static_cast<std::byte*>(memory_.emplace_back(backend_.memory().allocate(before + bytes)).get()) + before;
    if (bytes > 0) {
      EXPECT_EQ(stream_->copy(start, host, bytes), Status::ok) << stream_->error();
    }
    return start;
  }
  void fetch(void* host, const void* placed, std::int64_t bytes) override {
    if (bytes > 0) {
      EXPECT_EQ(stream_->copy(host, placed, bytes), Status::ok) << stream_->error();
    }
    EXPECT_EQ(stream_->wait(), Status::ok) << stream_->error();
  }
  Status::Code launch(const Tactic& tactic, const void* kernel, RunArgs args) override {
    args.parallel = &stream_->parallel();
    const std::int64_t compiled = cuda::compilations();
    const Status::Code launched = stream_->launch(tactic, kernel, args), done = stream_->wait();
    EXPECT_EQ(cuda::compilations(), compiled) << tactic.name << " compiles in a run";
    return launched == Status::ok ? done : launched;
  }
  int workers() const override { return stream_->parallel().workers(); }

 private:
  Backend& backend_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::shared_ptr<void>> memory_;
};

// Elements of a dense tensor of dims `shape` as `layout` stores them, those that pad blocks of channels included; and back.
inline Tensor relaid(const Tensor& tensor, Layout layout, const Shape& shape, bool back = false) {
  if (layout == kPlain || shape.size() < 3) return tensor;
  const ir::Dims dims = ir::to_dims(shape);
  const std::int64_t bytes = bits(tensor.dtype()) / 8, block = layout.order == Layout::channels_blocked ? layout.block : 1;
  const std::vector<std::int64_t> plain = ir::constants(strides(kPlain, dims)), laid = ir::constants(strides(layout, dims));
  Tensor result(tensor.dtype(), back ? shape : Shape{storage_elements(layout, dims).constant()});
  if (!back) std::memset(result.mutable_raw(), 0xff, static_cast<std::size_t>(result.bytes()));   // NaN: what pads must not matter
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    std::int64_t p = 0, l = index[1] % block;
    for (std::size_t d = 0; d < shape.size(); ++d) p += index[d] * plain[d], l += (d == 1 ? index[d] / block : index[d]) * laid[d];
    std::memcpy(static_cast<char*>(result.mutable_raw()) + (back ? p : l) * bytes,
                static_cast<const char*>(tensor.raw()) + (back ? l : p) * bytes, static_cast<std::size_t>(bytes));
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return result;
}

// A tactic's kernel for a problem; code is waited for.
inline std::shared_ptr<const void> opened(const Tactic& tactic, const Problem& problem, const Config& config) {
  Opening opening;
  return tactic.open(problem, config, opening);
}

struct TacticRun {
  const Tactic tactic;     // a copy: tests make some for one call
  const ir::Graph& graph;  // one node; its inputs are the graph's inputs or constants
  DeviceInfo device;
  Problem problem;

  TacticRun(const Tactic& t, const ir::Graph& g, std::uint32_t features) : tactic(t), graph(g) {
    device.features = features;
    const ir::Node& node = *g.nodes().front();
    problem.op = node.def;
    problem.attributes = &node.attributes;
    problem.numerics = node.numerics;
    problem.body = node.body ? &*node.body : nullptr;
    problem.anchor_inputs = node.anchor_inputs < 0 ? static_cast<int>(node.inputs.size()) : node.anchor_inputs;
    problem.device = &device;
    for (const ir::Value* v : node.inputs) problem.in.push_back(describe(v));
    for (const ir::Value* v : node.outputs) problem.out.push_back(describe(v));
  }
  static OperandDesc describe(const ir::Value* v) {
    OperandDesc d;
    d.missing = v == nullptr;
    if (v == nullptr) return d;
    d.dtype = v->dtype();
    d.dims = v->dims();
    d.constant = v->is_constant();
    return d;
  }
  void use(const Formats& formats) {
    for (std::size_t i = 0; i < problem.in.size(); ++i) problem.in[i].layout = formats.in[i];
    for (std::size_t i = 0; i < problem.out.size(); ++i) problem.out[i].layout = formats.out[i];
  }

  // To the last bit, unless the tactic rounds f32: then as it multiplies it, which tests of its own compare more closely.
  void expect_given_back(const Tensor& back, const Tensor& original) const {
    if (back.shape() != original.shape() || std::memcmp(back.raw(), original.raw(), static_cast<std::size_t>(back.bytes())) == 0) return;
    const bool rounds = tactic.rounds_f32 || problem.numerics.allows(ir::Rounding::bf16);
    ASSERT_TRUE(rounds && back.dtype() == DType::f32) << "unpack(pack(x)) differs from x";
    double largest = 0;
    for (std::int64_t i = 0; i < back.size(); ++i)
      if (std::isfinite(original.as_double(i))) largest = std::max(largest, std::abs(original.as_double(i)));
    for (std::int64_t i = 0; i < back.size(); ++i) {
      const double a = back.as_double(i), b = original.as_double(i);
      ASSERT_TRUE(std::isfinite(b) ? std::abs(a - b) <= largest / 256 : std::isnan(b) ? std::isnan(a) : a == b) << a << " for " << b;
    }
  }
  // The operand whose memory the result may take, as builder/program/program_memory.cpp decides it; -1: none.
  int in_place() const {
    if (!tactic.may_alias || problem.out.size() != 1) return -1;
    const OperandDesc& y = problem.out[0];
    for (std::size_t i = 0; i < problem.in.size(); ++i) {
      const OperandDesc& x = problem.in[i];
      if (!x.missing && !x.constant && x.dims == y.dims && x.layout == y.layout && bits(x.dtype) == bits(y.dtype) &&
          tactic.may_alias(problem, static_cast<int>(i), 0))
        return static_cast<int>(i);
    }
    return -1;
  }

  // What a run is given, and what keeps it.
  struct Memory {
    std::vector<std::vector<std::int64_t>> strides;
    std::vector<Shape> shapes;   // of results
    std::vector<Tensor> kept, results;
    std::vector<std::shared_ptr<void>> packed;
    std::vector<Bound> in, out;
  };
  static Bound bound(Memory& m, const Shape& shape, Layout layout) {
    m.strides.push_back(ir::constants(strides(layout, ir::to_dims(shape))));
    return {nullptr, shape.data(), m.strides.back().data(), static_cast<int>(shape.size())};
  }
  static std::shared_ptr<void> room(std::int64_t bytes) {
    return {std::aligned_alloc(64, static_cast<std::size_t>(round_up(bytes, 64))), [](void* p) { std::free(p); }};
  }

  // Constants as the tactic packs them, if it does; what it unpacks is compared with them.
  void place_operands(const Config& config, const std::vector<Tensor>& operands, Target& target, Memory& m) const {
    std::vector<const Tensor*> constants;
    for (std::size_t i = 0; i < operands.size(); ++i) constants.push_back(problem.in[i].constant ? &operands[i] : nullptr);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const OperandDesc& d = problem.in[i];
      if (d.missing) {
        m.in.push_back({});
        continue;
      }
      const int input = static_cast<int>(i);
      const std::int64_t bytes = d.constant && tactic.packed_bytes ? tactic.packed_bytes(problem, config, input) : -1;
      m.in.push_back(bound(m, operands[i].shape(), d.layout));
      if (bytes < 0) {
        const Tensor& x = m.kept.emplace_back(relaid(operands[i], d.layout, operands[i].shape()));
        m.in.back().data = target.place(x.raw(), x.bytes(), byte_size(x.dtype(), 1), d.misaligned && !d.constant);
        continue;
      }
      void* const packed = m.packed.emplace_back(room(bytes)).get();
      tactic.pack(problem, config, input, constants, packed);
      m.in.back().data = target.place(packed, bytes);
      const Tensor back = tactic.unpack(problem, config, input, packed);
      EXPECT_EQ(back.shape(), operands[i].shape());
      expect_given_back(back, operands[i]);
    }
  }
  // Full of 0xa5, so that what is not written shows; with several workers in an operand's memory, if they may be.
  void place_results(const std::vector<Tensor>& operands, Target& target, Memory& m) const {
    for (const OperandDesc& d : problem.out) m.shapes.push_back(ir::constants(d.dims));
    for (std::size_t o = 0; o < problem.out.size(); ++o) {
      const OperandDesc& d = problem.out[o];
      Tensor& y = m.results.emplace_back(d.dtype, d.layout == kPlain ? m.shapes[o] : Shape{storage_elements(d.layout, d.dims).constant()});
      if (d.dtype != DType::string) std::memset(y.mutable_raw(), 0xa5, static_cast<std::size_t>(y.bytes()));
      const int shared = target.workers() > 1 ? in_place() : -1;
      if (shared >= 0) {
        const auto i = static_cast<std::size_t>(shared);
        const Tensor x = relaid(operands[i], problem.in[i].layout, operands[i].shape());
        std::memcpy(y.mutable_raw(), x.raw(), static_cast<std::size_t>(y.bytes()));
      }
      m.out.push_back(bound(m, m.shapes[o], d.layout));
      m.out.back().data = target.place(y.raw(), y.bytes(), byte_size(y.dtype(), 1), d.misaligned);
      if (shared >= 0) m.in[static_cast<std::size_t>(shared)].data = m.out.back().data;
    }
  }

  // Outputs in logical order, for operands in logical order (inputs of the node, null for missing ones). With several workers the
  // result takes an operand's memory if it may.
  std::vector<Tensor> run(const Config& config, const std::vector<Tensor>& operands, Parallel& parallel) const {
    OnHost host(parallel);
    return run(config, operands, host);
  }
  std::vector<Tensor> run(const Config& config, const std::vector<Tensor>& operands, Target& target) const {
    Memory m;
    place_operands(config, operands, target, m);
    place_results(operands, target, m);
    const std::int64_t bytes = tactic.workspace ? tactic.workspace(problem, config).constant() : 0;
    const std::shared_ptr<void> workspace = room(bytes + 64);
    const auto kernel = opened(tactic, problem, config);
    const std::int64_t stride = tactic.worker_scratch ? scratch_stride(tactic.worker_scratch(problem, config).constant()) : 0;
    const std::int64_t scratch_bytes = stride * target.workers() + 64;
    const std::shared_ptr<void> scratch = room(scratch_bytes);
    const Status::Code code = target.launch(tactic, kernel.get(), {m.in, m.out, target.place(workspace.get(), bytes), nullptr,
                                                                   target.place(scratch.get(), scratch_bytes), stride});
    EXPECT_EQ(code, Status::ok);
    for (std::size_t i = 0; i < problem.out.size(); ++i) {
      Tensor& y = m.results[i];
      target.fetch(y.mutable_raw(), m.out[i].data, y.bytes());
      if (problem.out[i].layout != kPlain) y = relaid(y, problem.out[i].layout, m.shapes[i], true);
    }
    return std::move(m.results);
  }
};

inline std::vector<ops::RuntimeValue> as_values(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

}  // namespace tenfold::backends::testing
