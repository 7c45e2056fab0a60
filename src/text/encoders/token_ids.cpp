#include "text/encoders/token_ids.h"

namespace tenfold::encoders {
namespace {

// Why the ids of a text cannot be given to the model; empty: they can.
std::string why_not(const TokenIds& text, const EncoderInfo& info) {
  if (text.ids.empty()) return "has no tokens";
  if (text.ids.size() > static_cast<std::size_t>(info.max_tokens))
    return "has " + std::to_string(text.ids.size()) + " tokens, " + std::to_string(info.max_tokens) + " at most were expected";
  for (const std::int32_t id : text.ids)
    if (id < 0 || id >= info.vocabulary)
      return "has the id " + std::to_string(id) + ", but the vocabulary has the ids 0 to " + std::to_string(info.vocabulary - 1);
  if (!text.types.empty() && text.types.size() != text.ids.size())
    return "has " + std::to_string(text.types.size()) + " types for " + std::to_string(text.ids.size()) + " tokens";
  for (const std::int32_t type : text.types)
    if (type != 0 && type != 1) return "has the type " + std::to_string(type) + ", 0 or 1 was expected";
  return {};
}

}  // namespace

void take_ids(std::span<const TokenIds> texts, std::size_t first, bool types, const EncoderInfo& info, const EncodeCall& call,
              Tokens& out) {
  out.clear();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string why = why_not(texts[i], info);
    if (why.empty()) {
      out.ids.insert(out.ids.end(), texts[i].ids.begin(), texts[i].ids.end());
      if (types) out.types.insert(out.types.end(), texts[i].types.begin(), texts[i].types.end());
      if (types) out.types.resize(out.ids.size());
    } else {
      const Error error(ErrorKind::invalid_argument, "text " + std::to_string(first + i) + " " + why);
      if (!call.failed) throw error;
      call.failed(first + i, error);
    }
    out.ends.push_back(out.ids.size());
  }
}

}  // namespace tenfold::encoders
