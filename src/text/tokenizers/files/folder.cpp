#include "text/tokenizers/files/folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "text/fail.h"

namespace tenfold::tokenizing {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::io, "'" + path + "' cannot be read: " + std::strerror(errno));
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();  // of an empty file this would be an error
  if (file.bad() || !text) fail(ErrorKind::io, "'" + path + "' cannot be read");
  return text.str();
}

nlohmann::json tokenizer_of_folder(const std::string& folder) {
  const auto has = [&](const char* name) {
    std::error_code cannot_look;
    return std::filesystem::exists(folder + "/" + name, cannot_look);
  };
  if (has("tokenizer.json")) return parsed(read_file(folder + "/tokenizer.json"), folder + "/tokenizer.json");
  if (has("vocab.txt")) return of_vocab_txt(folder);
  if (has("vocab.json") && has("merges.txt")) return of_vocab_and_merges(folder);
  for (const char* name : {"tokenizer.model", "sentencepiece.bpe.model", "spiece.model", "sentencepiece.model"})
    if (has(name)) return of_sentencepiece(folder + "/" + name, folder);
  fail(ErrorKind::io, "'" + folder + "' has no tokenizer: tokenizer.json, vocab.txt, vocab.json with merges.txt, tokenizer.model, "
                      "sentencepiece.bpe.model or spiece.model was expected");
}

}  // namespace tenfold::tokenizing
