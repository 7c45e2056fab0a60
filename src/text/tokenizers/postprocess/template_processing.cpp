#include <nlohmann/json.hpp>
#include <map>

#include "text/fail.h"
#include "text/tokenizers/postprocess/post_processor.h"

namespace tenfold::tokenizing {
namespace {

using Ids = std::map<std::string, std::vector<std::int32_t>>;

Ids special_tokens(const Json& json) {
  Ids all;
  const Json tokens = json.at("special_tokens");
  if (!tokens.value.is_object()) tokens.wrong("an object was expected");
  for (const auto& [name, value] : tokens.value.items()) {
    const Json token{value, tokens.where + "['" + name + "']", tokens.depth};
    for (const Json& id : token.list("ids")) {
      if (!id.value.is_number_unsigned() || id.value.get<std::uint64_t>() > INT32_MAX) id.wrong("an id was expected");
      all[name].push_back(id.value.get<std::int32_t>());
    }
  }
  return all;
}

constexpr std::size_t kMaxPlaces = 256;   // of texts and tokens in what a model gets; a text may have many of them

void expect_places(std::size_t count, const Json& list) {
  if (count > kMaxPlaces)
    fail(ErrorKind::unsupported, list.where + ": it has more than " + std::to_string(kMaxPlaces) +
                                     " texts and tokens, which are the most; leave out what stands there again");
}

std::vector<Piece> pieces(const Json& json, const char* key, const Ids& ids) {
  std::vector<Piece> all;
  for (const Json& one : json.list(key)) {
    const bool is_text = one.has("Sequence");
    const Json piece = one.at(is_text ? "Sequence" : "SpecialToken");
    const auto type = static_cast<std::int32_t>(piece.number("type_id", 0, INT32_MAX));
    const std::string id = piece.text("id");
    if (is_text) {
      if (id != "A" && id != "B") piece.wrong("the id '" + id + "' is neither A nor B");
      expect_places(all.size() + 1, json.at(key));
      all.push_back({id == "A" ? Piece::first : Piece::second, type, 0});
      continue;
    }
    const auto known = ids.find(id);
    if (known == ids.end()) piece.wrong("special_tokens lacks '" + id + "'");
    expect_places(all.size() + known->second.size(), json.at(key));
    for (const std::int32_t number : known->second) all.push_back({Piece::token, type, number});
  }
  return all;
}

}  // namespace

Template read_template_processing(const Json& json) {
  const Ids ids = special_tokens(json);
  Template result{pieces(json, "single", ids), pieces(json, "pair", ids), {}};
  for (const Piece& piece : result.single)
    if (piece.what == Piece::second) json.wrong("'single' has a second text");
  return result;
}

}  // namespace tenfold::tokenizing
