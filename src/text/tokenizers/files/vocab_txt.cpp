// BERT's vocabulary: a token a line.
#include <nlohmann/json.hpp>
#include <sstream>

#include "text/chars.h"
#include "text/fail.h"
#include "text/tokenizers/files/folder.h"

namespace tenfold::tokenizing {
namespace {

nlohmann::json read_lines(const std::string& path) {
  const std::string text = read_file(path);
  try {
    scalars(text);
  } catch (const Error&) {
    fail(ErrorKind::invalid_model, path + " is no UTF-8");
  }
  nlohmann::json vocab = nlohmann::json::object();
  std::istringstream lines(text);
  std::size_t id = 0;
  for (std::string line; std::getline(lines, line); ++id) {
    if (line.ends_with('\r')) line.pop_back();
    vocab[line] = id;   // of two alike the last one counts
  }
  return vocab;
}

}  // namespace

nlohmann::json of_vocab_txt(const std::string& folder) {
  const Settings settings(folder);
  const bool is_mpnet = settings.is_class("mpnet");
  const std::string cls = settings.special("cls_token", is_mpnet ? "<s>" : "[CLS]");
  const std::string sep = settings.special("sep_token", is_mpnet ? "</s>" : "[SEP]");
  nlohmann::json tokenizer;
  tokenizer["model"] = {{"type", "WordPiece"}, {"unk_token", settings.special("unk_token", "[UNK]")},
                        {"vocab", read_lines(folder + "/vocab.txt")}, {"continuing_subword_prefix", "##"},
                        {"max_input_chars_per_word", 100}};
  tokenizer["normalizer"] = {{"type", "BertNormalizer"}, {"clean_text", true}, {"lowercase", settings.flag("do_lower_case", true)},
                             {"handle_chinese_chars", settings.flag("tokenize_chinese_chars", true)}, {"strip_accents", nullptr}};
  if (const std::optional<bool> strips = settings.flag("strip_accents")) tokenizer["normalizer"]["strip_accents"] = *strips;
  tokenizer["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  tokenizer["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  if (is_mpnet)
    add_specials(tokenizer, settings.specials({{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "[UNK]"}, {"sep_token", "</s>"},
                                               {"pad_token", "<pad>"}, {"cls_token", "<s>"}, {"mask_token", "<mask>"}}));
  else
    add_specials(tokenizer, settings.specials({{"unk_token", "[UNK]"}, {"sep_token", "[SEP]"}, {"pad_token", "[PAD]"},
                                               {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"}}));
  std::vector<std::string> pair{cls + ":0", "$A:0", sep + ":0", "$B:1", sep + ":1"};
  if (is_mpnet) pair = {cls + ":0", "$A:0", sep + ":0", sep + ":0", "$B:0", sep + ":0"};
  tokenizer["post_processor"] = template_of(tokenizer, {cls + ":0", "$A:0", sep + ":0"}, pair);
  return tokenizer;
}

}  // namespace tenfold::tokenizing
