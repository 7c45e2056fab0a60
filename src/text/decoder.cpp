#include "text/decoder.h"

#include <utility>

namespace tenfold::tokenizing {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
}

// In this order.
constexpr std::pair<std::string_view, std::string_view> kCleaned[] = {
    {" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"},
    {" 've", "'ve"}, {" 're", "'re"}};

}  // namespace

std::string Decoder::text(const std::vector<std::string>& tokens) const {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string token = tokens[i];
    if (i > 0) {
      if (prefix && token.starts_with(*prefix)) token.erase(0, prefix->size());
      else token.insert(0, " ");
    }
    if (cleans_up)
      for (const auto& [what, by] : kCleaned) replace_all(token, what, by);
    text += token;
  }
  return text;
}

Decoder read_decoder(const Json& file) {
  if (!file.has("decoder")) return {};
  const Json json = file.at("decoder");
  if (json.type() != "WordPiece") json.missing_component("WordPiece");
  return {json.text("prefix"), json.flag("cleanup", true)};
}

}  // namespace tenfold::tokenizing
