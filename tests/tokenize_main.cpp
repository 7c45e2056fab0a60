// Tokens of many texts, for tests/tokenizer_test.py and bench/tokenizer_speed.py:
// tokenize TOKENIZER.json LENGTH [pairs|decode|time [THREADS]]
// Texts come as 4 bytes of their length and their bytes. Each gives its number of tokens, then id, type, mask, special, begin and end of
// each, as i32. With "pairs" each text is encoded beside the next one. With "decode" what
// is decoded comes out, as texts come in. With "time" the rounds' seconds and the tokens come out as text.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tenfold/text.h"

namespace {

std::vector<std::string> read_texts() {
  std::vector<std::string> texts;
  for (std::uint32_t size = 0; std::fread(&size, sizeof size, 1, stdin) == 1;) {
    std::string text(size, '\0');
    if (std::fread(text.data(), 1, size, stdin) != size) std::exit(1);
    texts.push_back(std::move(text));
  }
  return texts;
}

void write(const tenfold::Encoding& e) {
  std::vector<std::int32_t> out{static_cast<std::int32_t>(e.size())};
  for (std::size_t i = 0; i < e.size(); ++i) out.insert(out.end(), {e.ids[i], e.types[i], e.mask[i], e.special[i], e.begins[i], e.ends[i]});
  std::fwrite(out.data(), sizeof out[0], out.size(), stdout);
}

void write_decoded(const tenfold::Tokenizer& tokenizer, const std::string& text) {
  const std::string decoded = tokenizer.decode(tokenizer.encode(text).ids);
  const auto size = static_cast<std::uint32_t>(decoded.size());
  std::fwrite(&size, sizeof size, 1, stdout);
  std::fwrite(decoded.data(), 1, size, stdout);
}

void time(const tenfold::Tokenizer& tokenizer, const std::vector<std::string>& texts, int threads) {
  constexpr int kRounds = 5;
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (int round = 0; round < kRounds; ++round) {
    std::size_t tokens = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const tenfold::Encoding& e : tokenizer.encode_batch(views, true, threads)) tokens += e.size();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%.6f %zu\n", took.count(), tokens);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* how = argc > 3 ? argv[3] : "";
  const bool pairs = std::strcmp(how, "pairs") == 0;
  try {
    tenfold::Tokenizer tokenizer = tenfold::Tokenizer::load(argv[1]);
    tokenizer.set_truncation(std::atoi(argv[2]));
    tokenizer.set_padding(tenfold::Tokenizer::Padding::none);
    const std::vector<std::string> texts = read_texts();
    if (std::strcmp(how, "time") == 0) return time(tokenizer, texts, argc > 4 ? std::atoi(argv[4]) : 1), 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (std::strcmp(how, "decode") == 0) write_decoded(tokenizer, texts[i]);
      else write(pairs && i + 1 < texts.size() ? tokenizer.encode_pair(texts[i], texts[i + 1]) : tokenizer.encode(texts[i]));
    }
  } catch (const tenfold::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
