// From SentencePiece's models to the components that encode alike.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>

#include "tenfold/internal/base64.h"
#include "text/chars.h"
#include "text/fail.h"
#include "text/tokenizers/files/folder.h"
#include "text/tokenizers/files/sentencepiece_model.h"

namespace tenfold::tokenizing {
namespace {

using nlohmann::json;
const std::string kSpace = "\u2581";

json precompiled(const SentencepieceModel& model) {
  return {{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(model.charsmap)}};
}
json replace(const char* kind, const std::string& what, const std::string& by) {
  return {{"type", "Replace"}, {"pattern", {{kind, what}}}, {"content", by}};
}

// XLM-RoBERTa's ids are those of fairseq: four of its own before the pieces, <mask> behind them.
json xlm_roberta(const SentencepieceModel& model, const Settings& settings) {
  const std::string bos = settings.special("bos_token", "<s>"), eos = settings.special("eos_token", "</s>");
  const std::string padding = settings.special("pad_token", "<pad>"), unknown = settings.special("unk_token", "<unk>");
  json vocab = json::array({{bos, 0.0}, {padding, 0.0}, {eos, 0.0}, {unknown, 0.0}});
  for (std::size_t i = 3; i < model.pieces.size(); ++i) vocab.push_back({model.pieces[i].text, model.pieces[i].score});
  vocab.push_back({settings.special("mask_token", "<mask>"), 0.0});
  json tokenizer;
  tokenizer["model"] = {{"type", "Unigram"}, {"unk_id", 3}, {"vocab", vocab}};
  if (!model.charsmap.empty()) tokenizer["normalizer"] = precompiled(model);
  const char* scheme = settings.flag("add_prefix_space", true) ? "always" : "never";
  const json metaspace{{"type", "Metaspace"}, {"replacement", kSpace}, {"prepend_scheme", scheme}, {"split", true}};
  tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "WhitespaceSplit"}}, metaspace}}};
  tokenizer["decoder"] = metaspace;
  add_specials(tokenizer, settings.specials({{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"sep_token", "</s>"},
                                             {"pad_token", "<pad>"}, {"cls_token", "<s>"}, {"mask_token", "<mask>"}}));
  tokenizer["post_processor"] = template_of(tokenizer, {bos + ":0", "$A:0", eos + ":0"},
                                            {bos + ":0", "$A:0", eos + ":0", eos + ":0", "$B:0", eos + ":0"});
  return tokenizer;
}

// Any two pieces that a piece consists of are merged, those of the best score first.
json merges_of(const SentencepieceModel& model) {
  std::unordered_map<std::string_view, std::size_t> normal;
  for (std::size_t i = 0; i < model.pieces.size(); ++i)
    if (model.pieces[i].type == SentencepieceModel::normal) normal[model.pieces[i].text] = i;
  std::vector<std::tuple<float, std::size_t, std::string_view, std::string_view>> ranked;
  for (const auto& [token, i] : normal)
    for (std::size_t at = 1; at < token.size(); ++at)
      if (normal.contains(token.substr(0, at)) && normal.contains(token.substr(at)))
        ranked.emplace_back(-model.pieces[i].score, i, token.substr(0, at), token.substr(at));
  std::sort(ranked.begin(), ranked.end());
  json merges = json::array();
  for (const auto& [score, i, left, right] : ranked) merges.push_back(json::array({left, right}));
  return merges;
}

json model_of(const SentencepieceModel& model, bool has_user_defined) {
  if (!model.is_bpe) {
    json vocab = json::array();
    for (const auto& piece : model.pieces) vocab.push_back({piece.text, piece.score});
    return {{"type", "Unigram"}, {"unk_id", model.unknown_id}, {"vocab", vocab}, {"byte_fallback", model.byte_fallback}};
  }
  json vocab = json::object();
  for (std::size_t i = 0; i < model.pieces.size(); ++i) vocab[model.pieces[i].text] = i;
  return {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges_of(model)}, {"unk_token", model.unknown_piece}, {"fuse_unk", true},
          {"byte_fallback", model.byte_fallback}, {"ignore_merges", has_user_defined}};
}

// The pattern of pieces that are never merged, longest first.
std::string any_of(std::vector<std::string> pieces) {
  const auto is_longer = [](const std::string& a, const std::string& b) { return scalars(a).size() > scalars(b).size(); };
  std::stable_sort(pieces.begin(), pieces.end(), is_longer);
  std::string pattern;
  for (const std::string& piece : pieces) {
    if (!pattern.empty()) pattern += '|';
    for (const char c : piece) {
      if (std::string_view("\\^$.|?*+()[]{}-&~# ").find(c) != std::string_view::npos) pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

json plain(const SentencepieceModel& model, const Settings& settings) {
  std::vector<std::string> user_defined;
  for (const auto& piece : model.pieces)
    if (piece.type == SentencepieceModel::user_defined) user_defined.push_back(piece.text);
  json tokenizer;
  tokenizer["model"] = model_of(model, !user_defined.empty());
  json steps = json::array();
  if (!model.charsmap.empty()) steps.push_back(precompiled(model));
  if (model.removes_extra_spaces) steps.push_back(replace("Regex", R"(\A +| +\z)", "")), steps.push_back(replace("Regex", " {2,}", " "));
  if (model.escapes_spaces) steps.push_back(replace("String", " ", kSpace));
  const bool legacy = settings.flag("legacy", true);
  if (model.adds_dummy_prefix && legacy) steps.push_back(replace("Regex", R"(\A)" + kSpace, kSpace + kSpace));
  tokenizer["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  json parts = json::array();
  if (model.adds_dummy_prefix)
    parts.push_back({{"type", "Metaspace"}, {"replacement", kSpace}, {"prepend_scheme", legacy ? "always" : "first"}, {"split", false}});
  if (!user_defined.empty())
    parts.push_back({{"type", "Split"}, {"pattern", {{"Regex", any_of(user_defined)}}}, {"behavior", "Isolated"}, {"invert", false}});
  if (!parts.empty()) tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", parts}};
  json decoders = json::array({replace("String", kSpace, " ")});
  if (model.byte_fallback) decoders.push_back({{"type", "ByteFallback"}});
  if (model.adds_dummy_prefix || model.byte_fallback) decoders.push_back({{"type", "Fuse"}});
  if (model.adds_dummy_prefix) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  tokenizer["decoder"] = {{"type", "Sequence"}, {"decoders", decoders}};
  std::vector<Special> specials = settings.specials({{"bos_token", ""}, {"eos_token", ""}, {"unk_token", ""}, {"pad_token", ""}});
  for (const auto& piece : model.pieces)
    if (piece.type == SentencepieceModel::control || piece.type == SentencepieceModel::unknown) specials.push_back({piece.text});
  add_specials(tokenizer, specials);
  return tokenizer;
}

}  // namespace

json of_sentencepiece(const std::string& file, const std::string& folder) {
  const SentencepieceModel model = read_sentencepiece(read_file(file), file);
  const Settings settings(folder);
  return settings.is_class("xlmroberta") ? xlm_roberta(model, settings) : plain(model, settings);
}

}  // namespace tenfold::tokenizing
