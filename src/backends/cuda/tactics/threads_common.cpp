// Operands become the kernel's arguments: inputs, outputs, the number of elements, where wrong indices are noted.
#include "backends/cuda/tactics/threads_common.h"

#include <array>
#include <bit>

#include "base/checked.h"
#include "ops/conv/conv_common.h"

namespace tenfold::backends::cuda {

OpenThreads::OpenThreads(const Problem& p, Opening& opening, std::string_view file, const KernelText& text,
                         const std::vector<std::string>& functions)
    : module_(device_of(*p.device).load(generate_threads(p, file, text), opening)),
      inputs_(std::max<std::size_t>(p.in.size(), 1)),
      outputs_(p.out.size()) {
  for (const std::string& f : functions) functions_.push_back(module_->function(cat("kernel_", f).c_str()));
  for (std::size_t i = 0; i < p.in.size(); ++i) given_ |= p.in[i].missing ? 0u : 1u << i;
  for (std::size_t i = 0; i < p.out.size(); ++i) requested_ |= p.out[i].missing ? 0u : 1u << i;
}

Status::Code OpenThreads::run(const RunArgs& args, std::size_t function, std::int64_t count, std::int64_t blocks) const noexcept {
  struct Rest {
    std::int64_t count;
    std::uint32_t* bad_index;
  };
  alignas(8) std::array<std::byte, (2 * kMaxThreadsOperands) * sizeof(ThreadsOperand) + sizeof(Rest)> room{};
  std::byte* to = room.data();
  const auto put = [&](const Bound& b) {
    ThreadsOperand o{b.data, {}, {}};
    for (int d = 0; d < b.rank && d < kMaxThreadsDims; ++d) o.d[d] = b.dims[d], o.s[d] = b.strides[d];
    std::memcpy(to, &o, sizeof o);
  };
  for (std::size_t i = 0; i < inputs_; ++i, to += sizeof(ThreadsOperand))
    if (given_ >> i & 1) put(args.in[i]);
  for (std::size_t i = 0; i < outputs_; ++i, to += sizeof(ThreadsOperand))
    if (requested_ >> i & 1) put(args.out[i]);
  const Rest rest{count, queue_of(args).bad_index};
  std::memcpy(to, &rest, sizeof rest);
  if (blocks < 0) blocks = ceil_div(count, std::int64_t{kThreadsOfBlock});
  return launch(queue_of(args), functions_[function], {static_cast<unsigned>(blocks)}, kThreadsOfBlock, 0, room.data(), Start::early);
}

Status::Code OpenThreads::run_each(const void* self, const RunArgs& args) noexcept {
  return static_cast<const OpenThreads*>(self)->run(args, 0, elements_of(args.out[0]));
}

std::int64_t elements_of(const Bound& b) noexcept {
  std::int64_t count = 1;
  for (int d = 0; d < b.rank; ++d) count *= b.dims[d];
  return count;
}

std::string listed(const ir::Ints& values) {
  std::string text;
  for (std::int64_t v : values) text += cat(text.empty() ? "" : ", ", v);
  return text;
}
void define_sum(KernelText& text, const Problem& p) {
  const DType t = p.in[0].dtype;
  text.define("SUM", t == DType::f64 ? "double" : is_float(t) ? "float" : "i64");
}

void define_window(KernelText& text, const Problem& p) {
  const std::size_t spatial = p.out[0].dims.size() - 2;
  const auto of = [&](const char* name, std::size_t count, std::int64_t otherwise) {
    return listed(p.attributes->ints(name, ir::Ints(count, otherwise)));
  };
  text.define("STRIDES", of("strides", spatial, 1)), text.define("DILATIONS", of("dilations", spatial, 1));
  text.define("PADS", of("pads", 2 * spatial, 0));
}

// Inference spells pads out unless they follow from extents that only a run knows.
Verdict pads_are_known(const Problem& p) {
  const bool known = p.attributes->string("auto_pad", "NOTSET") == "NOTSET" && p.attributes->ints("output_shape", {}).empty();
  return Verdict::only_if(known, "pads depend on the run's extents");
}
Verdict keeps_extents(const Problem& p, const ir::Dims& own) {
  return Verdict::only_if(p.out[0].dims == own, "the epilogue broadcasts the output");
}
ir::Dims conv_extents(const Problem& p, bool transposed) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims;
  const std::span<const ir::Dim> spatial = std::span(x).subspan(2);
  const ops::Window window = ops::window_of(*p.attributes, spatial, ops::conv_kernel(*p.attributes, std::span(w).subspan(2)));
  ir::Dims own{x[0], transposed ? w[1] * ir::Dim(p.attributes->integer("group")) : w[0]};
  const ir::Ints more = p.attributes->ints("output_padding", {});
  for (std::size_t i = 0; i < spatial.size(); ++i)
    own.push_back(transposed ? (spatial[i] - 1) * window.strides[i] + (more.empty() ? 0 : more[i]) + window.reach(i) - window.begin[i] -
                                   window.end[i]
                             : ops::window_extent(window, i, spatial[i], false));
  return own;
}
ir::Dims product_extents(const Problem& p) {
  const std::span<const ir::Dim> a = p.in[0].dims, b = p.in[1].dims;
  ir::Dims own = ir::broadcast(a.first(a.size() < 2 ? 0 : a.size() - 2), b.first(b.size() < 2 ? 0 : b.size() - 2));
  if (a.size() > 1) own.push_back(a[a.size() - 2]);
  if (b.size() > 1) own.push_back(b.back());
  return own;
}

std::string exact(double value) { return cat("__int_as_float(", std::bit_cast<std::int32_t>(static_cast<float>(value)), ")"); }

}  // namespace tenfold::backends::cuda
