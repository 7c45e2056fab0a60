#include "builder/example_inputs.h"

#include "ops/cases.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {

InputSet example_inputs(const Engine& engine, const BuildConfig& config) {
  const InputSet typical = config.typical_inputs.empty() ? InputSet{} : config.typical_inputs.front();
  InputSet inputs;
  for (const BindingInfo& b : engine.bindings()) {
    if (!b.is_input) continue;
    if (const auto given = typical.find(b.name); given != typical.end()) {
      inputs[b.name] = given->second;
      continue;
    }
    const Shape shape = engine.profile_shapes(0, b.name).opt;
    const auto seed = inputs.size() + 1;
    inputs[b.name] = b.dtype == DType::string ? Tensor(b.dtype, shape)
                     : is_float(b.dtype)      ? ops::random_tensor(b.dtype, shape, seed)
                                              : ops::random_tensor(b.dtype, shape, seed, 1, 1);
  }
  return inputs;
}

}  // namespace tenfold::builder
