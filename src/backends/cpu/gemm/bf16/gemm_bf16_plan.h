// How a bf16 product on AMX runs: a plan says, once for all calls, by which mode each of its questions is answered.
//
// The loops around the micro-kernel, in BLIS's words (Van Zee and van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS
// Functionality"): C = A * B, A of m x k, B of k x n, micro-tiles of mr x nr. Tactics cut rows into blocks of mc and columns into parts,
// and call a product for each; the loops in a call are
//
//   K::whole, gemm_bf16_k_whole.cpp                        K::in_pieces, gemm_bf16_k_pieces.cpp
//     jc: nc columns at a time                               pc: kc values of k at a time; all sums of the call wait
//       ir: all rows, mr at a time (plane by plane)            jr: panels of nr columns
//         jr: panels of nr columns                               ir: all rows, mr at a time
//           micro-kernel: mr x nr sums over all of k               micro-kernel: adds kc products to mr x nr sums
//
//   MicroKernel::strips, gemm_bf16_strips.cpp: as K::whole, but jr is a loop of the micro-kernel's own.
//
// What a mode changes: A, where tiles of rows come from, and what is asked for ahead (gemm_bf16_rows.h, gemm_bf16_prefetch.h); B, whether
// panels are split on the way (gemm_bf16_operands.h); Loops, nc; Epilogue, who runs it (gemm_bf16_epilogues.h). No mode changes a result.
#pragma once

#include "backends/cpu/gemm/bf16/bf16_epilogue.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_b.h"

namespace tenfold::backends::cpu {

struct GemmBf16Plan {
  // Rows of A are copied before they are multiplied; or read where the caller has them; or overlap in a copy of an image's lines.
  enum class A : std::uint8_t { packed, in_place, windows };
  // B was packed in bf16, in one term or two; or it was packed in f32, and the first rows of a call split it into three for all rows.
  enum class B : std::uint8_t { terms, split_on_the_way };
  // A micro-tile takes all of k at once; or k comes in pieces of kc, so that rows of one piece stay in the second cache.
  enum class K : std::uint8_t { whole, in_pieces };
  // Panels go round while mr rows wait in the first cache; or rows go by while a panel waits there.
  enum class Loops : std::uint8_t { panels_inside, panels_outside };
  // Registers end a micro-tile while the next one is multiplied; or the block executor ends mr rows of all panels of nc when they are
  // there.
  enum class Epilogue : std::uint8_t { beside_next, after_block };
  // Micro-tiles of 32 x 32, each summed up in one call; or strips of 16 rows, which go by pairs of panels inside of a call.
  enum class MicroKernel : std::uint8_t { tiles, strips };

  static constexpr std::int64_t kMr = GemmBf16Kernels::kRows, kNr = GemmBf16Kernels::kColumns;
  static constexpr std::int64_t kMaxNc = 512;   // columns: of sums that wait for their epilogue

  GemmBf16Plan() = default;
  // Of panels that are split on the way, in a call of `columns` columns.
  static std::int64_t split_bytes(const GemmBf16B& b, std::int64_t columns, Loops loops);
  // `k_pieces` above 1: panels are outside, A has one tap and one plane.
  GemmBf16Plan(const GemmBf16B& b, A a, Loops loops, const Bf16Epilogue& epilogue, std::int64_t k_pieces = 1) noexcept;

  GemmBf16B matrix;   // B
  A a = A::packed;
  B b = B::terms;
  K k = K::whole;
  Loops loops = Loops::panels_inside;
  Epilogue epilogue = Epilogue::beside_next;
  // Strips where a call's columns are whole pairs of panels; all other calls of such a plan take tiles.
  MicroKernel micro_kernel = MicroKernel::tiles;
  std::int64_t k_pieces = 1;
  std::int64_t epilogue_bytes = 0;   // of scratch, for the block executor

  static std::int64_t nc(Loops loops) { return loops == Loops::panels_inside ? kMaxNc : kNr; }
  std::int64_t nc() const { return nc(loops); }
  std::int64_t split_bytes(std::int64_t columns) const { return split_bytes(matrix, columns, loops); }
  // Of a call of at most `columns` columns and, where k comes in pieces, at most `rows` rows.
  std::int64_t scratch_bytes(std::int64_t columns, std::int64_t rows = 0) const;
};

// In how many pieces k is taken, one after the other, so that `rows` rows of one tap stay in the second cache while panels pass by.
std::int64_t gemm_bf16_k_pieces(const GemmBf16B& b, std::int64_t rows);
// GemmBf16Plan::scratch_bytes of B in bf16 and whole k, where B is not known yet.
std::int64_t gemm_bf16_scratch_bytes(const Bf16Epilogue& epilogue, std::int64_t columns);

}  // namespace tenfold::backends::cpu
