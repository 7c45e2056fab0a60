// reverse_rows_copy: ReverseRows by whole rows, shared among threads. Recipe 2 of CONTRIBUTING.md, tried by recipes_test.
#include <cstring>

#include "backends/tactic.h"

namespace tenfold::backends {
namespace {

struct Kernel { std::int64_t element_bytes; };

Verdict supports(const Problem& p) {
  return Verdict::only_if(p.in[0].dense && p.out[0].dense && bits(p.in[0].dtype) >= 8, "rows are not dense bytes");
}
std::vector<Config> configs(const Problem&) { return {{}}; }
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{bits(p.in[0].dtype) / 8});
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Bound &in = args.in[0], &out = args.out[0];
  std::int64_t row = static_cast<const Kernel*>(self)->element_bytes;
  for (int a = 1; a < in.rank; ++a) row *= in.dims[a];
  const std::int64_t rows = in.dims[0];
  args.parallel->for_each(rows, [&](std::int64_t i, int) {
    if (row > 0) std::memcpy(out.as<char>() + i * row, in.as<const char>() + (rows - 1 - i) * row, static_cast<std::size_t>(row));
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_reverse_rows_copy() {
  return {.name = "reverse_rows_copy", .ops = {"ReverseRows"}, .supports = supports, .configs = configs, .open = open, .run = run};
}

}  // namespace tenfold::backends
