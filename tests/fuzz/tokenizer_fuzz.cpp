// libFuzzer target: a tokenizer.json, a zero byte, and a text. Any two end in tokens that stand inside the text, or in an Error.
#include <string_view>

#include "base/check.h"
#include "cpu_limit.h"
#include "tenfold/text.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view json = input.substr(0, input.find('\0'));
  const std::string_view text = json.size() < size ? input.substr(json.size() + 1) : std::string_view("Hello, w\u00f6rld!\n 12 \u4e2d");
  try {
    Tokenizer tokenizer = Tokenizer::parse(json, "input");
    tokenizer.set_padding(Tokenizer::Padding::none);
    const Encoding e = tokenizer.encode(text);
    for (std::size_t i = 0; i < e.size(); ++i)
      check(e.begins[i] >= 0 && e.ends[i] >= 0 && static_cast<std::size_t>(e.ends[i]) <= text.size(), "a token ends at ", e.ends[i]);
    tokenizer.decode(e.ids, false);
  } catch (const Error& error) {
    check(error.kind() != ErrorKind::internal, "a tokenizer fails in itself: ", error.what());
  }
  return 0;
}
