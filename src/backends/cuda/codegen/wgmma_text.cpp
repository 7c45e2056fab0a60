// Printing wgmma with its operands.
#include "backends/cuda/codegen/wgmma_text.h"

#include <atomic>

#include "backends/cuda/codegen/mma_type.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

std::atomic<bool> every_lane{false};

}  // namespace

void let_every_lane_arrive(bool yes) noexcept { every_lane = yes; }
int arriving_lanes() noexcept { return every_lane ? 32 : 1; }

std::string wgmma_text(const std::string& name, std::int64_t columns, DType a, DType b) {
  const std::int64_t count = columns / 2;
  const bool whole = !is_float(a);
  std::string registers, operands;
  const char* operand = whole ? "\"+r\"(c[" : "\"+f\"(c[";
  for (std::int64_t i = 0; i < count; ++i) registers += cat(i ? ", %" : "%", i), operands += cat(i ? ", " : "", operand, i, "])");
  // Behind the predicate: signs of a and b, but for integers; which of them lies transposed, where a type may.
  const char* rest = whole ? "" : bits(a) == 16 ? ", 1, 1, 0, 0" : ", 1, 1";
  return cat("__device__ __forceinline__ void ", name, "(", whole ? "int" : "float", " (&c)[", count, "], u64 a, u64 b, int add) {\n",
             "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %", count + 2,
             ", 0;\\n\\t\"\n  \"wgmma.mma_async.sync.aligned.m64n", columns, "k", 256 / bits(a), whole ? ".s32." : ".f32.", mma_type(a),
             ".", mma_type(b), " {", registers, "}, %", count, ", %", count + 1, ", p", rest, ";\\n\\t}\"\n  : ", operands,
             " : \"l\"(a), \"l\"(b), \"r\"(add));\n}\n");
}

std::string wgmma_registers_text(const std::string& name, std::int64_t columns, DType type) {
  const std::int64_t count = columns / 2;
  std::string registers, operands;
  for (std::int64_t i = 0; i < count; ++i) registers += cat(i ? ", %" : "%", i), operands += cat(i ? ", " : "", "\"+f\"(c[", i, "])");
  const char* const ptx = mma_type(type);
  return cat("__device__ __forceinline__ void ", name, "(float (&c)[", count, "], const u32 (&a)[4], u64 b, int add) {\n",
             "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %", count + 5,
             ", 0;\\n\\t\"\n  \"wgmma.mma_async.sync.aligned.m64n", columns, "k16.f32.", ptx, ".", ptx, " {", registers, "}, {%", count,
             ", %", count + 1, ", %", count + 2, ", %", count + 3, "}, %", count + 4, ", p, 1, 1, 1;\\n\\t}\"\n  : ", operands,
             " : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b), \"r\"(add));\n}\n");
}

std::string wgmma_first_text(const std::string& name, int columns, int all, DType type) {
  std::string registers, operands;
  for (int i = 0; i < columns / 2; ++i) registers += cat(i ? ", %" : "%", i), operands += cat(i ? ", " : "", "\"+f\"(c[", i, "])");
  const char* const ptx = mma_type(type);
  return cat("__device__ __forceinline__ void ", name, "(float (&c)[", all / 2, "], u64 a, u64 b) {\n",
             "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.eq.b32 p, 0, 0;\\n\\t\"\n  \"wgmma.mma_async.sync.aligned.m64n", columns,
             "k16.f32.", ptx, ".", ptx, " {", registers, "}, %", columns / 2, ", %", columns / 2 + 1,
             ", p, 1, 1, 0, 0;\\n\\t}\"\n  : ", operands, " : \"l\"(a), \"l\"(b));\n}\n");
}

}  // namespace tenfold::backends::cuda
