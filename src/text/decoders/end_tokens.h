// Tokens that end a text, as configurations name them.
#pragma once

#include <cstdint>
#include <vector>

#include "text/json.h"

namespace tenfold::decoders {

// Adds those of "eos_token_id", which is a number, a list of numbers, or not there. Throws invalid_model.
void read_end_tokens(const tokenizing::Json& from, std::vector<std::int32_t>& to);

}  // namespace tenfold::decoders
