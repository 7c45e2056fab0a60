// The loop of a generation: logits, tokens, ends.
#pragma once

#include <span>
#include <vector>

#include "tenfold/decoder.h"

namespace tenfold::decoders {

struct Clock { double prompt_s = 0, step_s = 0; std::int64_t prompt_runs = 0, steps = 0, guessed = 0, accepted = 0; };

void check(const GenerateCall& call, const DecoderInfo& info);   // throws invalid_argument, naming the field
// Continues the sequences of `session`, which holds the first reused[i] tokens of prompts[i]. `first` is the number of the first one
// in its call, for callbacks and seeds.
std::vector<Generated> generate(DecoderSession& session, std::span<const std::vector<std::int32_t>> prompts, std::size_t first,
                                const DecoderInfo& info, const Tokenizer& tokenizer, const GenerateCall& call, Clock& clock);

}  // namespace tenfold::decoders
