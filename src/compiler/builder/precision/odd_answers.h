// Samples to which the model in f32 answers with NaN or infinity: no range, error or correction holds for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenfold/quantize.h"
#include "tenfold/value.h"

namespace tenfold::builder {

struct OddAnswer {
  bool by_sample = false;   // the sample holds such numbers itself
  std::string text;         // names the output and the input, with the place of the first such number in each
};

// The first output of floats that holds NaN or infinity. Without one in the sample itself, NaN alone counts: a model may answer with
// infinities of its own. Minus infinity in the sample, as in a mask, may give minus infinity.
std::optional<OddAnswer> odd_answer(const InputSet& sample, const std::vector<std::string>& outputs,
                                    const std::vector<RuntimeValue>& answers);

// Throws invalid_argument with the text where the sample is to blame, or, where `strict`, in any case.
void expect_numbers(const InputSet& sample, const std::vector<std::string>& outputs, const std::vector<RuntimeValue>& answers,
                    bool strict = false);

}  // namespace tenfold::builder
