#include "text/decoders/end_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tenfold::decoders {

void read_end_tokens(const tokenizing::Json& from, std::vector<std::int32_t>& to) {
  if (!from.has("eos_token_id")) return;
  const nlohmann::json& value = from.at("eos_token_id").value;
  for (const nlohmann::json& one : value.is_array() ? value : nlohmann::json::array({value})) {
    if (!one.is_number_integer() || one < 0 || one > INT32_MAX) from.wrong("eos_token_id is neither a token's id nor a list of them");
    if (const auto id = one.get<std::int32_t>(); !std::count(to.begin(), to.end(), id)) to.push_back(id);
  }
}

}  // namespace tenfold::decoders
