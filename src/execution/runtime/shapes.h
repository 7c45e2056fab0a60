// Shapes of a context: those that the caller sets, and what every symbol and dim of the program that covers them is then.
#pragma once

#include <optional>

#include "runtime/frame.h"

namespace tenfold::runtime {

struct ShapeState {
  int profile = -1;                           // chosen by the caller; -1: the first that fits
  std::optional<int> refused_profile;         // that the caller asked for last, and there is none
  int active = -1;                            // program that covers the shapes, whose frame is bound
  std::vector<Shape> inputs;                  // as set
  std::vector<char> set;                      // of each input: whether its shape is set
  std::vector<std::int64_t> symbols, dims;    // values for the active program
  std::vector<std::int64_t> within;           // room for those of a loop's body
  std::vector<ir::DimCode::Known> known;      // of each symbol
  bool changed = true;                        // since the program was chosen
};

std::string declared_text(const Shape& declared);   // "4x-1 (-1: dynamic)", "4x6"
// Values of the program's symbols and dims for shapes of the inputs; false: it does not cover them, and `bad` is an input that says so.
bool evaluate_shapes(const OpenTop& top, const std::vector<Shape>& shapes, std::span<std::int64_t> symbols,
                     std::span<ir::DimCode::Known> known, std::span<std::int64_t> dims, int& bad) noexcept;
// Chooses the program for the shapes set and evaluates its dims.
Status resolve_shapes(ContextState& context) noexcept;
// Are all symbols of these dims known?
bool is_known(const ContextState& context, std::span<const plan::DimIndex> dims) noexcept;
// Forgets what the steps of a program defined, before it runs again.
Status forget_symbols(ContextState& context, const OpenProgram& program) noexcept;
// Before an iteration of the innermost loop: forgets what steps of its body defined, and carried values that change their extents have
// those that the loop's state says.
Status enter_iteration(ContextState& context, BoundStep& loop) noexcept;
void forget_sizes(ContextState& context, const std::vector<std::int32_t>& symbols) noexcept;   // dims stay what they were
// After a step that defines symbols: their values from the shapes of its results, and everything that follows from them.
Status define_symbols(ContextState& context, const BoundStep& bound, const std::vector<ir::TensorRef>& results) noexcept;

}  // namespace tenfold::runtime
