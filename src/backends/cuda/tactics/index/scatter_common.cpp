// How updates meet what they fall on, and by which threads.
#include "backends/cuda/tactics/index/scatter_common.h"

namespace tenfold::backends::cuda {

Verdict can_combine(const Problem& p, ir::Dim updates) {
  constexpr std::int64_t kMaxUpdates = 1 << 16;  // as long as a thread may take
  if (p.bounds(updates).upper > kMaxUpdates) return Verdict::no("too many updates for one thread, which takes them in turn");
  if (!is_index(p.in[1].dtype)) return Verdict::no("indices are not i32 or i64");
  if (!has_c_type(p.in[0].dtype) && p.attributes->string("reduction", "none") != "none")
    return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  return can_generate_threads(p);
}

void define_scatter(KernelText& text, const Problem& p) {
  const std::string& how = p.attributes->string("reduction");
  text.define("HOW", how == "none" ? 0 : how == "add" ? 1 : how == "mul" ? 2 : how == "max" ? 3 : 4);
}

Status::Code run_scatter(const OpenThreads& k, const RunArgs& args, std::int64_t lines, std::int64_t updates_of_line) noexcept {
  const std::int64_t elements = elements_of(args.out[0]);
  if (elements == 0) return Status::ok;
  constexpr std::int64_t kManyLines = 4096, kFewElements = 1 << 17;
  if (updates_of_line > 1 && lines < kManyLines && elements <= kFewElements) return k.run(args, 2, elements);
  const Status::Code copied = k.run(args, 0, elements);
  return copied == Status::ok ? k.run(args, 1, lines) : copied;
}

}  // namespace tenfold::backends::cuda
