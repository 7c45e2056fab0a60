// libFuzzer target: a chat template, a zero byte, and messages as JSON. Any two end in a text of UTF-8, or in an Error.
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "cpu_limit.h"
#include "tenfold/error.h"
#include "text/chars.h"
#include "text/chat/parser.h"
#include "text/chat/renderer.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = input.substr(0, input.find('\0'));
  const std::string_view json =
      text.size() < size ? input.substr(text.size() + 1) : R"([{"role": "user", "content": " h\u00f6 "}, {"role": "x"}])";
  const auto messages = nlohmann::ordered_json::parse(json, nullptr, false);
  if (messages.is_discarded()) return 0;
  try {
    tokenizing::scalars(text);  // as chat_template.cpp checks it
    const chat::Body body = chat::parsed_template(text);
    tokenizing::scalars(chat::Renderer().run(body, {{"messages", chat::value_of(messages)}, {"bos_token", "<s>"}}));
  } catch (const Error& error) {
    check(error.kind() != ErrorKind::internal, "a template fails in itself: ", error.what());
  }
  return 0;
}
