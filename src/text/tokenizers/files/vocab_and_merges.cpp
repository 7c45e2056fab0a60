// GPT-2's and RoBERTa's files: tokens with their ids, and merges line by line.
#include <nlohmann/json.hpp>
#include <sstream>

#include "text/fail.h"
#include "text/tokenizers/files/folder.h"

namespace tenfold::tokenizing {
namespace {

nlohmann::json read_merges(const std::string& path) {
  nlohmann::json merges = nlohmann::json::array();
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(line);
  }
  return merges;
}

}  // namespace

nlohmann::json of_vocab_and_merges(const std::string& folder) {
  const Settings settings(folder);
  nlohmann::json tokenizer;
  tokenizer["model"] = {{"type", "BPE"}, {"vocab", parsed(read_file(folder + "/vocab.json"), folder + "/vocab.json")},
                        {"merges", read_merges(folder + "/merges.txt")}};
  if (!tokenizer["model"]["vocab"].is_object()) fail(ErrorKind::invalid_model, folder + "/vocab.json: an object of tokens was expected");
  const bool adds_space = settings.flag("add_prefix_space", false);
  tokenizer["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", adds_space}, {"use_regex", true}};
  tokenizer["decoder"] = {{"type", "ByteLevel"}};
  if (!settings.is_class("roberta")) {
    add_specials(tokenizer, settings.specials({{"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"},
                                               {"unk_token", "<|endoftext|>"}, {"pad_token", ""}}));
    tokenizer["post_processor"] = {{"type", "ByteLevel"}, {"trim_offsets", false}};
    const std::string bos = settings.special("bos_token", "<|endoftext|>") + ":0";
    if (settings.flag("add_bos_token", false)) tokenizer["post_processor"] = template_of(tokenizer, {bos, "$A:0"}, {bos, "$A:0", "$B:1"});
    return tokenizer;
  }
  add_specials(tokenizer, settings.specials({{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"sep_token", "</s>"},
                                             {"pad_token", "<pad>"}, {"cls_token", "<s>"}, {"mask_token", "<mask>"}}));
  const auto with_id = [&](const std::string& token) {
    for (const nlohmann::json& one : tokenizer["added_tokens"])
      if (one["content"] == token) return nlohmann::json::array({token, one["id"]});
    fail(ErrorKind::invalid_model, folder + ": the special token '" + token + "' is not named");
  };
  tokenizer["post_processor"] = {{"type", "RobertaProcessing"}, {"sep", with_id(settings.special("sep_token", "</s>"))},
                                 {"cls", with_id(settings.special("cls_token", "<s>"))}, {"trim_offsets", true},
                                 {"add_prefix_space", adds_space}};
  return tokenizer;
}

}  // namespace tenfold::tokenizing
