// The way of a text: tokens that were added, normal form, words, their tokens, special ones around them.
#include <nlohmann/json.hpp>
#include <algorithm>
#include <filesystem>

#include "tenfold/internal/as_error.h"
#include "tenfold/text.h"
#include "text/fail.h"
#include "text/threads.h"
#include "text/tokenizers/added_tokens.h"
#include "text/tokenizers/decode/decoder.h"
#include "text/tokenizers/files/folder.h"
#include "text/tokenizers/postprocess/post_processor.h"
#include "text/tokenizers/trim.h"
#include "text/tokenizers/truncation.h"

namespace tenfold {

using namespace tokenizing;

namespace {

// Memory that a thread uses for one text after the other.
struct Scratch {
  Chars given, piece;
  Made made;
  std::vector<TextSpan> parts, inner;
  std::vector<Word> words;
  std::vector<Token> first, second;
};

Scratch& scratch() {
  thread_local Scratch one;
  return one;
}

template <class T, class Read>
std::unique_ptr<T> read_if(const Json& file, const char* key, Read&& read) {
  return file.has(key) ? read(file.at(key)) : nullptr;
}

Template without_tokens(Template form) {
  const auto is_token = [](const Piece& p) { return p.what == Piece::token; };
  std::erase_if(form.single, is_token), std::erase_if(form.pair, is_token);
  return form;
}

int specials_of(const std::vector<Piece>& pieces) {
  return static_cast<int>(std::count_if(pieces.begin(), pieces.end(), [](const Piece& p) { return p.what == Piece::token; }));
}

}  // namespace

struct Tokenizer::Impl {
  std::unique_ptr<Normalizer> normalizer;       // may be null
  std::unique_ptr<PreTokenizer> pre_tokenizer;  // may be null: the text is one word
  std::unique_ptr<Model> model;
  AddedTokens added;
  Template special, plain;
  Truncation truncation;
  tokenizing::Padding padding;
  std::unique_ptr<Decoder> decoder;   // may be null: a space stands between any two tokens
  Vocabulary ids;
  std::unordered_map<std::int32_t, std::string> tokens;
  Trimmer trimmer;
  std::string name;   // of the file or folder, for errors

  Impl(const Json& file, std::string from)
      : normalizer(read_if<Normalizer>(file, "normalizer", read_normalizer)),
        pre_tokenizer(read_if<PreTokenizer>(file, "pre_tokenizer", read_pre_tokenizer)), model(read_model(file.at("model"))),
        added(file, normalizer.get(), model->vocabulary()),
        special(file.has("post_processor") ? read_template(file.at("post_processor")) : whole_texts()), plain(without_tokens(special)),
        truncation(read_truncation(file)), padding(read_padding(file)), decoder(read_if<Decoder>(file, "decoder", read_decoder)),
        ids(model->vocabulary()), tokens(texts_of_ids()), trimmer(special.trims, tokens),
        name(std::move(from)) {}

  std::unordered_map<std::int32_t, std::string> texts_of_ids() {
    std::unordered_map<std::int32_t, std::string> texts;
    texts.reserve(ids.size() + added.all().size());
    for (const auto& [token, id] : ids) texts.emplace(id, token);
    for (const AddedToken& one : added.all()) texts.insert_or_assign(one.id, one.content);   // a vocabulary with gaps may have the id, too
    for (const auto& [content, id] : added.ids()) ids.emplace(content, id);
    return texts;
  }

  void tokenize(std::string_view text, std::vector<Token>& out) const {
    try {
      as_error([&] { take_apart(text, out); });
    } catch (Error& e) {   // what a rule of the file makes of this text
      if (e.kind() == ErrorKind::unsupported) e.within("the tokenizer '" + name + "'");
      throw;
    }
  }
  void take_apart(std::string_view text, std::vector<Token>& out) const {
    Scratch& s = scratch();
    out.clear(), s.given.clear(), s.parts.clear(), s.made.clear();
    decode_utf8(text, s.given);
    added.find(s.given, false, s.parts);
    for (const TextSpan& part : s.parts) {
      if (part.id >= 0) {
        put(part, out);
        continue;
      }
      Word text = part.text;
      if (normalizer) {
        s.piece.assign(text.begin(), text.end());
        normalizer->run(s.piece, Room(s.piece.size()));
        text = s.piece;
      }
      s.inner.clear();
      added.find(text, true, s.inner);
      for (const TextSpan& inner : s.inner) tokenize_part(inner, s, out);
    }
  }
  void tokenize_part(const TextSpan& part, Scratch& s, std::vector<Token>& out) const {
    if (part.id >= 0) return put(part, out);
    s.words.clear();
    s.made.allow(part.text.size());
    if (pre_tokenizer) pre_tokenizer->split(part.text, s.words, s.made);
    else s.words.push_back(part.text);
    for (const Word word : s.words) model->tokenize(word, out);
  }
  void put(const TextSpan& part, std::vector<Token>& out) const {
    out.push_back({part.id, part.text.front().begin, part.text.back().end});
    if (!trimmer.does_nothing()) Trimmer::count_spaces(part.text, out.back());
  }

  static void put(const std::vector<Token>& tokens, std::int32_t type, Encoding& e) {
    for (const Token& token : tokens) {
      e.ids.push_back(token.id);
      e.begins.push_back(static_cast<std::int32_t>(token.begin)), e.ends.push_back(static_cast<std::int32_t>(token.end));
    }
    e.types.resize(e.ids.size(), type), e.special.resize(e.ids.size(), 0);
  }
  void assemble(const std::vector<Piece>& pieces, Encoding& e) const {
    Scratch& s = scratch();
    trimmer.run(s.first);
    if (pieces.size() > 1) trimmer.run(s.second);   // what is there of an earlier text does not matter
    e.ids.clear(), e.types.clear(), e.mask.clear(), e.special.clear(), e.begins.clear(), e.ends.clear();
    for (const Piece& piece : pieces) {
      if (piece.what == Piece::first) put(s.first, piece.type, e);
      else if (piece.what == Piece::second) put(s.second, piece.type, e);
      else put({{piece.id, 0, 0}}, piece.type, e), e.special.back() = 1;
    }
    e.mask.resize(e.ids.size(), 1);
  }
  void encode(std::string_view text, bool special_tokens, Encoding& e) const {
    const Template& form = special_tokens ? special : plain;
    tokenize(text, scratch().first);
    truncate(truncation, specials_of(form.single), scratch().first, nullptr);
    assemble(form.single, e);
  }
  void run_decoder(std::vector<std::string>& tokens) const {
    std::size_t given = 0;
    for (const std::string& token : tokens) given += token.size();
    try {
      as_error([&] { decoder->run(tokens, Room(given)); });
    } catch (Error& e) {
      throw e.within("the tokenizer '" + name + "'");
    }
  }
  void pad_alone(Encoding& e) const {
    if (padding.mode != Padding::none) pad(padding, padded_length(padding, e.size()), e);
  }
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::string& path) {
  std::error_code cannot_look;
  if (!std::filesystem::is_directory(path, cannot_look)) return parse(read_file(path), path);
  try {
    return as_error([&] {
      const nlohmann::json root = tokenizer_of_folder(path);
      return Tokenizer(std::make_unique<Impl>(Json{root, ""}, path));
    });
  } catch (Error& e) {
    throw e.within("reading the tokenizer '" + path + "'");
  }
}

Tokenizer Tokenizer::parse(std::string_view json, const std::string& what) {
  const nlohmann::json root = as_error([&] { return parsed(json, what); });
  try {
    return as_error([&] { return Tokenizer(std::make_unique<Impl>(Json{root, ""}, what)); });
  } catch (Error& e) {
    throw e.within("reading the tokenizer '" + what + "'");
  }
}

Encoding Tokenizer::encode(std::string_view text, bool special_tokens) const {
  Encoding e;
  impl_->encode(text, special_tokens, e);
  impl_->pad_alone(e);
  return e;
}

void Tokenizer::encode_into(std::string_view text, Encoding& encoding, bool special_tokens) const {
  impl_->encode(text, special_tokens, encoding);
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, bool special_tokens) const {
  const std::vector<Piece>& pieces = (special_tokens ? impl_->special : impl_->plain).pair;
  Scratch& s = scratch();
  impl_->tokenize(first, s.first), impl_->tokenize(second, s.second);
  truncate(impl_->truncation, specials_of(pieces), s.first, &s.second);
  Encoding e;
  impl_->assemble(pieces, e);
  impl_->pad_alone(e);
  return e;
}

std::vector<Encoding> Tokenizer::encode_batch(std::span<const std::string_view> texts, bool special_tokens, int threads) const {
  if (threads < 0) fail(ErrorKind::invalid_argument, "Tokenizer::encode_batch: the number of threads is " + std::to_string(threads));
  std::vector<Encoding> all(texts.size());
  for_each_text(texts, threads, [&](std::size_t i) { impl_->encode(texts[i], special_tokens, all[i]); });
  std::size_t longest = 0;
  for (const Encoding& e : all) longest = std::max(longest, e.size());
  if (impl_->padding.mode != Padding::none)
    for (Encoding& e : all) pad(impl_->padding, padded_length(impl_->padding, longest), e);
  return all;
}

void Tokenizer::set_truncation(int max_length) {
  if (max_length < 0) fail(ErrorKind::invalid_argument, "Tokenizer::set_truncation: the length is " + std::to_string(max_length));
  impl_->truncation.length = max_length;
}

void Tokenizer::set_padding(Padding padding, int length) {
  if (length < 0) fail(ErrorKind::invalid_argument, "Tokenizer::set_padding: the length is " + std::to_string(length));
  impl_->padding.mode = padding, impl_->padding.length = length;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    const auto known = impl_->tokens.find(id);
    if (known == impl_->tokens.end()) continue;
    const std::string* const shown = impl_->added.shown(id);
    const std::string& text = shown ? *shown : known->second;
    if (!skip_special_tokens || !impl_->added.is_special(text)) tokens.push_back(text);   // by the text, as tokenizers does
  }
  if (impl_->decoder && !tokens.empty()) impl_->run_decoder(tokens);
  std::string text;
  for (const std::string& token : tokens) {
    if (!impl_->decoder && &token != &tokens.front()) text += ' ';
    text += token;
  }
  return text;
}

int Tokenizer::vocabulary_size() const { return static_cast<int>(impl_->tokens.size()); }

std::int32_t Tokenizer::id(std::string_view token) const {
  const auto at = impl_->ids.find(token);
  return at == impl_->ids.end() ? -1 : at->second;
}

std::string Tokenizer::token(std::int32_t id) const {
  const auto at = impl_->tokens.find(id);
  return at == impl_->tokens.end() ? std::string() : at->second;
}

}  // namespace tenfold
