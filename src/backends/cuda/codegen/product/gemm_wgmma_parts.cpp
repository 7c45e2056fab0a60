// The parts that kernels for wgmma are put together from.
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_wgmma_parts.h"
#include "base/check.h"
#include "base/types/half.h"

namespace tenfold::backends::cuda {
// The halves that gelu_half takes from a value are taken of both at once, in f16.
std::string gelu_of_two(DType result, double factor) {
  const auto halves = [](double x) { return cat("\"r\"(", float_to_half(static_cast<float>(x)) * 0x10001u, "u)"); };
  const bool small = result == DType::f8e4m3fn;
  const char* end =
      small ? "mul.rn.f16x2 h, h, %6;\\n\\tcvt.rn.satfinite.e4m3x2.f16x2 y, h;\\n\\tst.shared.b16 [%0], y;" : "st.shared.b32 [%0], h;";
  return cat(R"(
__device__ __forceinline__ void put_gelu(u32 place, float low, float high) {
  asm volatile("{\n\t.reg .b32 x, t, h;\n\t.reg .b16 y;\n\tcvt.rn.f16x2.f32 x, %2, %1;\n\tcvt.rn.f16x2.f32 t, %4, %3;\n\t"
               "abs.f16x2 h, x;\n\tmul.rn.f16x2 h, h, %5;\n\tfma.rn.f16x2 h, x, %5, h;\n\tsub.rn.f16x2 h, h, t;\n\t)",
             end, "\\n\\t}\"\n               :: \"r\"(place), \"f\"(low), \"f\"(high), \"f\"(gelu_tail(low)), \"f\"(gelu_tail(high)), ",
             halves(0.5), ", ", halves(factor), ");\n}\n");
}

std::string strip_helpers(DType result) {
  const int size = bits(result) / 8;
  const bool is_f32 = result == DType::f32;
  const char *type = size == 1 ? "u16" : size == 2 ? "u32" : "u64", *letter = size == 1 ? "h" : size == 2 ? "r" : "l";
  std::string both = "const u16 both = (u16)((u8)low | (u16)(u8)high << 8);";
  if (result == DType::f8e4m3fn) both = R"(u16 both; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));)";
  if (size == 2) both = "const u32 both = pair(low, high);";
  if (size == 4) both = "const u64 both = (u64)(u32)high << 32 | (u32)low;";
  if (is_f32) both = "const u64 both = (u64)__float_as_uint(high) << 32 | __float_as_uint(low);";
  const std::string stored(storage_type(result)), needs = size == 2 ? "#include \"backends/cuda/kernels/lib/pair.cuh\"\n" : "",
                                                  from = is_f32 ? "__uint_as_float((u32)" : cat("(", stored, ")(");
  return cat(needs, "__device__ __forceinline__ void put(u32 place, ", compute_type(result), " low, ", compute_type(result), " high) {\n  ",
             both, "\n  asm volatile(\"st.shared.b", 16 * size, " [%0], %1;\" :: \"r\"(place), \"", letter, "\"(both));\n}\n",
             "__device__ __forceinline__ void get(u32 place, ", stored, " (&x)[2]) {\n  ", type, " both;\n  asm volatile(\"ld.shared.b",
             16 * size, " %0, [%1];\" : \"=", letter, "\"(both) : \"r\"(place));\n  x[0] = ", from, "both), x[1] = ", from, "(both >> ",
             8 * size, "));\n}\n");
}

WgmmaLoads matrix_loads(const GemmProblem& p) {
  const std::string at = cat("k * ", p.depth());
  return {"", cat("tma_load_2d(stage_a, a.a, ", at, ", (int)m0, full_barrier);"),
          cat("tma_load_2d(stage_b, a.b, ", at, ", n0, full_barrier);"), cat((p.k + p.depth() - 1) / p.depth())};
}
// TMA walks over output positions itself (im2col), given where the first one reads and the tap.
WgmmaLoads conv_loads(const GemmProblem& p) {
  const int rank = p.spatial_rank(), lead = 3 - rank;
  const std::int64_t depth = (p.channels + p.depth() - 1) / p.depth();
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
  w.loads = cat("const int tap = k / ", depth, ", channel = k % ", depth, " * ", p.depth(), ";\n          int rest_taps = tap;\n");
  for (int d = 2, i = 0; d >= lead; --d, ++i)
    w.loads += cat("          const u16 offset", i, " = (u16)(rest_taps % ", p.kernel[static_cast<std::size_t>(d)], " * ",
                   p.dilation[static_cast<std::size_t>(d)], "); rest_taps /= ", p.kernel[static_cast<std::size_t>(d)], ";\n");
  std::string places, offsets;
  for (int i = 0; i < rank; ++i) places += cat(", at", i), offsets += cat(", offset", i);
  w.loads += cat("tma_load_im2col(stage_a, a.a, channel", places, ", image, full_barrier", offsets, ");");
  w.weights = cat("tma_load_3d(stage_b, a.b, k % ", depth, " * ", p.depth(), ", k / ", depth, ", n0, full_barrier);");
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
