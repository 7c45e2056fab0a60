// libFuzzer target: config.pbtxt, and configurations in JSON. Any bytes end in a configuration, whose text gives the same one again, or in
// an Error with words.
#include <cstdlib>
#include <cstring>
#include <string>

#include "config/config_text.h"
#include "cpu_limit.h"
#include "tenfold/error.h"

using namespace tenfold;
using namespace tenfold::server;

namespace {

template <class Parse>
void read(const Parse& parse) {
  try {
    const std::string text = config_text(parse());
    if (config_text(parse_config(text, "again")) != text) std::abort();
  } catch (const Error& error) {
    if (std::strlen(error.what()) == 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  const std::string input(reinterpret_cast<const char*>(data), size);
  if (!input.empty() && input[0] == '{') read([&] { return parse_config_json(input); });
  read([&] { return parse_config(input, "config.pbtxt"); });
  return 0;
}
