// masked_mean_block: a block of threads for each mean.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/reduce/masked_mean.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/elements_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

bool is_packed(const Problem& p) { return p.in.size() > 2 && !p.in[2].missing; }

Verdict supports(const Problem& p) {
  const DType x = p.in[0].dtype;
  if (x != DType::f32 && x != DType::f16 && x != DType::bf16) return Verdict::no(cat("vectors are ", name(x)));
  if (!has_c_type(p.in[1].dtype)) return Verdict::no(cat("the mask is ", name(p.in[1].dtype)));
  if (is_packed(p) && p.in[2].dtype != DType::i32) return Verdict::no("offsets are not i32");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))) return Verdict::no("an operand is not dense and plain");
  const ir::Dim length = p.in[0].dims[2];
  return Verdict::only_if(length.is_constant() && length.constant() > 0, "the length of a vector is not constant");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  std::uint64_t vector_bytes = 1;
  bool packed = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  MaskedMeanProblem mean{p.in[0].dtype, p.in[1].dtype, p.in[0].dims[2].constant()};
  mean.min_weight = static_cast<double>(p.attributes->number("least"));
  mean.min_length = static_cast<double>(p.attributes->number("min_length"));
  mean.normalize = p.attributes->integer("normalize") != 0;
  mean.packed = is_packed(p);
  auto k = std::make_shared<Kernel>();
  k->module = device_of(*p.device).load(generate_masked_mean(mean), opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  k->vector_bytes = static_cast<std::uint64_t>(masked_mean_width(mean) * bits(mean.x) / 8);
  k->packed = mean.packed;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const MaskedMeanArguments a{args.in[0].data,
                              args.in[1].data,
                              args.out[0].as<float>(),
                              args.in[0].dims[1],
                              k.packed ? args.in[2].as<const std::int32_t>() : nullptr,
                              queue_of(args).bad_index};
  const bool aligned = reinterpret_cast<std::uint64_t>(a.x) % k.vector_bytes == 0;
  return launch(queue_of(args), aligned ? k.vectors : k.singles, {static_cast<unsigned>(args.out[0].dims[0])}, kMaskedMeanThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_masked_mean_block() {
  return {.name = "masked_mean_block", .ops = {"MaskedMean"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
