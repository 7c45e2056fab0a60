// What specializes kernels/gemm/gemm_wgmma.cu: how results are put, the loads of one step, and what comes before the epilogue.
#pragma once

#include "backends/cuda/codegen/byte_rounding.h"
#include "backends/cuda/codegen/gelu.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/gemm/gemm.h"

namespace tenfold::backends::cuda {

// The macros of kernels/gemm/gemm_wgmma_strips.cuh, and those of its put_gelu. `bytes`: floats come that are rounded so.
void define_strips(KernelText& text, DType result, const std::optional<ByteRounding>& bytes);
void define_gelu(KernelText& text, const GeluEpilogue& gelu);

// Statements (PREPARE_A, LOAD_A, LOAD_B) for each tile and for each step of 128 bytes along k, of a and of b, and how many steps there are.
struct WgmmaLoads {
  std::string place, loads, weights, steps;
};
WgmmaLoads matrix_loads(const GemmProblem& p);
WgmmaLoads conv_loads(const GemmProblem& p);

// What the epilogue reads by row or by column comes to registers before the sums are there. By column each lane holds every 32nd pair,
// and lanes tell each other what they hold (of_lane); other types are read where they are needed.
std::string load_rows(const GemmProblem& p);
std::string load_columns(const GemmProblem& p);
std::string share_columns(const GemmProblem& p);
bool held_by_lanes(const EpilogueOperand& o);

}  // namespace tenfold::backends::cuda
