// Running small plans that passed the verifier, whatever their data are.
#pragma once

#include <algorithm>
#include <iterator>

#include "backends/backend.h"
#include "base/types/element.h"
#include "ops/body_prims.h"
#include "plan/step_problem.h"
#include "runtime/engine/open.h"

namespace tenfold::fuzz {

inline constexpr std::int64_t kMaxBytes = 1 << 20, kMaxElements = 1 << 14;

// How long a plan may run is its maker's affair: only small ones are tried.
inline bool is_small(const plan::Plan& p, const plan::Program& program, const std::vector<ir::Dim>& dims, const ir::SymbolBounds& box) {
  if (program.arena_bytes > kMaxBytes || program.steps.size() > 64) return false;
  for (const plan::Step& step : program.steps) {
    if (step.op == "Loop" || step.op == "Scan") return false;  // their data says how often
    for (const auto* side : {&step.in, &step.out})
      for (const plan::Operand& o : *side) {
        std::int64_t elements = 1;
        for (const plan::DimIndex d : o.dims) {
          elements *= std::max<std::int64_t>(1, dims[static_cast<std::size_t>(d)].bounds(box).upper);
          if (elements > kMaxElements) return false;
        }
      }
    for (const plan::Program& body : step.programs)
      if (!is_small(p, body, dims, box)) return false;
  }
  return true;
}

// Inputs: any bytes, or all elements of integer inputs one of the numbers at which arithmetic overflows or traps.
inline void fill(void* memory, DType type, std::int64_t elements, int choice) {
  const std::int64_t min = is_integer(type) ? ops::min_integer(type) : 0, max = is_integer(type) ? ops::max_integer(type) : 0;
  const std::int64_t numbers[] = {0, min, max, -1, 0, 1, min + 1, max - 1};
  if (choice > 0 && is_integer(type)) {
    for (std::int64_t i = 0; i < elements; ++i) store_int(type, memory, i, numbers[choice % std::ssize(numbers)]);
    return;
  }
  const std::int64_t bytes = byte_size(type, elements);
  for (std::int64_t b = 0; b < bytes; ++b)
    static_cast<std::uint8_t*>(memory)[b] = type == DType::boolean ? b % 2 : static_cast<std::uint8_t>(b * 37);
}

inline void run(plan::Plan p, std::shared_ptr<backends::Backend> cpu, int numbers = 0) {
  for (const plan::Program& program : p.programs)
    if (!is_small(p, program, program.dims, plan::program_box(program))) return;
  for (const plan::Binding& b : p.bindings)
    if (b.type.tensor.dtype == DType::string) return;
  const Engine engine = runtime::engine_of(runtime::open_engine(std::move(p), {.threads = 1}, std::move(cpu)));
  const auto context = engine.create_context();
  for (std::size_t i = 0; i < engine.bindings().size(); ++i) {
    const BindingInfo& binding = engine.bindings()[i];
    if (binding.is_input) {
      const Shape shape = engine.profile_shapes(0, binding.name).opt;
      if (!context->set_input_shape(static_cast<int>(i), shape)) return;
      std::int64_t bytes = 16;
      for (const std::int64_t extent : shape)
        if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMaxBytes) return;
      fill(context->own_memory(static_cast<int>(i)), binding.dtype, bytes / 16, numbers);
    } else {
      context->own_memory(static_cast<int>(i));
    }
  }
  context->describe(context->run());
}

}  // namespace tenfold::fuzz
