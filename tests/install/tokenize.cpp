// Ids of a text, by an installed tokenizer library.
#include <tenfold/text.h>

#include <cstdio>

int main() {
  const tenfold::Tokenizer tokenizer = tenfold::Tokenizer::parse(
      R"({"model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "un": 1, "##done": 2}},
          "pre_tokenizer": {"type": "Whitespace"}})");
  const bool right = tokenizer.encode("undone x").ids == std::vector<std::int32_t>{1, 2, 0};
  try {
    tenfold::Tokenizer::parse("{}");
  } catch (const tenfold::Error& e) {
    std::puts(right && e.kind() == tenfold::ErrorKind::invalid_model ? "right" : "wrong");
  }
}
