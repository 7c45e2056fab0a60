// The parts that kernels for wgmma are put together from.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_wgmma_parts.h"
#include "backends/cuda/kernels/lib/gelu_terms.h"
#include "base/check.h"
#include "base/types/half.h"

namespace tenfold::backends::cuda {

void define_strips(KernelText& text, DType result, const std::optional<ByteRounding>& bytes) {
  text.define("OUT", storage_type(result)), text.define("RESULT", bytes ? "float" : compute_type(result));
  text.define("BF16", result == DType::bf16 ? 1 : 0);
  const int whole = bytes ? 5 : bits(result) == 8 ? 2 : 4;
  text.define("STORED", bits(result) == 16 ? 0 : result == DType::f8e4m3fn ? 1 : result == DType::f32 ? 3 : whole);
  const ByteRounding limits = bytes.value_or(ByteRounding{});
  text.define("BYTE_LOWER", limits.lower()), text.define("BYTE_UPPER", limits.upper()), text.define("BYTE_ZERO", limits.zero);
}
// Constants in f16, twice in a register.
void define_gelu(KernelText& text, const GeluEpilogue& gelu) {
  const auto define = [&](const char* name, double x) {
    text.define(name, cat(float_to_half(static_cast<float>(x)) * 0x10001u, "u"));
  };
  define("GELU_HALF", 0.5), define("GELU_FACTOR", gelu.factor), define("GELU_INVERSE_REACH", 1 / TENFOLD_GELU_REACH);
  define("GELU_TAIL_0", TENFOLD_GELU_TAIL_0), define("GELU_TAIL_1", TENFOLD_GELU_TAIL_1), define("GELU_TAIL_2", TENFOLD_GELU_TAIL_2);
  define("GELU_TAIL_3", TENFOLD_GELU_TAIL_3), define("GELU_TAIL_4", TENFOLD_GELU_TAIL_4);
  define("BYTE_LOWER_HALF", gelu.lower), define("BYTE_UPPER_HALF", gelu.upper);
}

WgmmaLoads matrix_loads(const GemmProblem& p) {
  const std::string at = cat("k * ", p.row_depth());
  return {"", cat("tma_load_2d(stage_a, a.a, ", at, ", (int)m0, full_barrier);"),
          cat("tma_load_2d(stage_b, a.b, ", at, ", n0, full_barrier);"), cat((p.k + p.row_depth() - 1) / p.row_depth())};
}
// TMA walks over output positions itself (im2col), given where the first one reads and the tap.
WgmmaLoads conv_loads(const GemmProblem& p) {
  const int rank = p.spatial_rank(), lead = 3 - rank;
  const std::int64_t depth = (p.channels + p.row_depth() - 1) / p.row_depth();
  std::int64_t positions = 1, taps = 1;
  for (std::size_t d = 0; d < 3; ++d) positions *= p.out_extent[d], taps *= p.kernel[d];
  WgmmaLoads w;
  w.steps = cat(taps * depth);
  w.place = cat("const int image = (int)(m0 / ", positions, "), position = (int)(m0 % ", positions, ");\n        int rest = position;\n");
  int count = 0;
  for (int d = 2; d >= lead; --d, ++count) {
    const auto i = static_cast<std::size_t>(d);
    w.place += cat("        const int at", count, " = rest % ", p.out_extent[i], " * ", p.stride[i], " - ", p.begin[i],
                   "; rest /= ", p.out_extent[i], ";\n");
  }
  w.loads = cat("const int tap = k / ", depth, ", channel = k % ", depth, " * ", p.row_depth(), ";\n          int rest_taps = tap;\n");
  for (int d = 2, i = 0; d >= lead; --d, ++i)
    w.loads += cat("          const u16 offset", i, " = (u16)(rest_taps % ", p.kernel[static_cast<std::size_t>(d)], " * ",
                   p.dilation[static_cast<std::size_t>(d)], "); rest_taps /= ", p.kernel[static_cast<std::size_t>(d)], ";\n");
  std::string places, offsets;
  for (int i = 0; i < rank; ++i) places += cat(", at", i), offsets += cat(", offset", i);
  w.loads += cat("tma_load_im2col(stage_a, a.a, channel", places, ", image, full_barrier", offsets, ");");
  w.weights = cat("tma_load_3d(stage_b, a.b, k % ", depth, " * ", p.row_depth(), ", k / ", depth, ", n0, full_barrier);");
  return w;
}

bool held_by_lanes(const EpilogueOperand& o) {
  return o.kind == EpilogueKind::column && (o.dtype == DType::f16 || o.dtype == DType::bf16 || o.dtype == DType::f32);
}
std::string load_columns(const GemmProblem& p) {
  std::string out, loop;
  for (std::size_t o = 0; o < p.epilogue.size(); ++o) {
    if (!held_by_lanes(p.epilogue[o])) continue;
    const std::string type = p.epilogue[o].dtype == DType::f32 ? "float2" : "u32";
    out += cat(type, " columns", o, "[kPairs];\n      ");
    loop +=
        cat("\n        columns", o, "[i] = *(const ", type, "*)((const ", storage_type(p.epilogue[o].dtype), "*)a.epilogue[", o, "] + n);");
  }
  if (loop.empty()) return "\n";
  return cat("constexpr int kPairs = (COLUMNS / 2 + 31) / 32;\n      ", out,
             "#pragma unroll\n      for (int i = 0; i < kPairs; ++i) {\n        const int n = min(n0 + (i * 32 + lane) * 2, N - 2);", loop,
             "\n      }\n");
}
std::string share_columns(const GemmProblem& p) {
  std::string out = "\n";
  for (std::size_t o = 0; o < p.epilogue.size(); ++o) {
    if (!held_by_lanes(p.epilogue[o])) continue;
    const std::string from = cat("of_lane(columns", o, "[two / 32]"), lane = ", two % 32 + lane % 4)";
    if (p.epilogue[o].dtype == DType::f32)
      out += cat("          const float column", o, "[2] = {", from, ".x", lane, ", ", from, ".y", lane, "};\n");
    else
      out += cat("          const u32 both", o, " = ", from, lane, ";\n          const u16 column", o, "[2] = {(u16)both", o,
                 ", (u16)(both", o, " >> 16)};\n");
  }
  return out;
}

std::string load_rows(const GemmProblem& p) {
  std::string out, loop;
  for (std::size_t o = 0; o < p.epilogue.size(); ++o) {
    if (p.epilogue[o].kind != EpilogueKind::row) continue;
    out += cat("float row", o, "[BLOCKS][2];\n      ");
    loop +=
        cat("row", o,
            "[i][h] = ", loaded(p.epilogue[o].dtype, cat("((const ", storage_type(p.epilogue[o].dtype), "*)a.epilogue[", o, "])[m]")), ";");
  }
  if (loop.empty()) return "\n";
  return cat(out, "#pragma unroll\n      for (int i = 0; i < BLOCKS; ++i)\n        #pragma unroll\n        for (int h = 0; h < 2; ++h) {\n",
             "          const i64 m = min(m0 + i * 64 + h * 8 + row, a.m - 1);\n          ", loop, "\n        }\n");
}

}  // namespace tenfold::backends::cuda
