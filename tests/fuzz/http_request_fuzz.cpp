// libFuzzer target: HTTP/1 requests in any bytes and any pieces. What is read does not depend on the pieces, no limit is passed, and what
// was taken of the budget is given back. Each request goes on to what looks at its path and its keys.
#include <cstdlib>
#include <vector>

#include "net/http_path.h"
#include "net/http_reader.h"
#include "security/security.h"

using namespace tenfold::server;

namespace {

using Step = HttpReader::Step;

HttpLimits small_limits() {
  HttpLimits limits;
  limits.body_bytes = 4096, limits.header_bytes = 1024, limits.headers = 20, limits.chunks = 50;
  return limits;
}

void demand(bool right) {
  if (!right) std::abort();
}

// What is read, as text.
struct Seen {
  std::string text;
  bool refused = false, long_head = false;
};
Seen read(std::string_view bytes, std::size_t piece, const std::shared_ptr<ByteBudget>& budget) {
  static const HttpLimits limits = small_limits();
  static const Security security{SecurityOptions{}};
  HttpReader reader(limits, budget);
  std::string seen;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    // A copy without room behind it, in which reading too far is seen.
    const std::vector<char> some(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                 bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + piece, bytes.size())));
    reader.push({some.data(), some.size()});
    for (Step step = reader.next(); step != Step::more; step = reader.next()) {
      if (step == Step::refused) demand(reader.refusal_status() >= 400 && !reader.refusal().empty());
      if (step == Step::refused || step == Step::overloaded) return {seen, true, step == Step::refused && reader.refusal_status() == 431};
      if (step == Step::head) {
        const HttpRequest& head = reader.request();
        demand(head.headers.size() <= limits.headers && reader.body_bytes() <= limits.body_bytes);
        seen += head.method + " " + head.target;
        for (const auto& [name, value] : head.headers) seen += "\n" + name + ":" + value;
        seen += security.admit_http(head, false) ? " denied\n" : " admitted\n";
      } else {
        const HttpRequest request = reader.take();
        demand(request.size <= limits.body_bytes);
        for (std::size_t i = 0; i < kBodyPadding; ++i) demand(request.body[request.size + i] == std::byte{0});
        seen += "[" + std::string(request.text()) + "]\n";
        reader.begin();
      }
    }
    reader.keep();
    demand(reader.unread() <= limits.header_bytes + std::max<std::size_t>(piece, 1));
  }
  return {seen, false};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto budget = std::make_shared<ByteBudget>(1 << 20), small = std::make_shared<ByteBudget>(data[0] * 16);
  const Seen whole = read(bytes, bytes.size(), budget), cut = read(bytes, data[0] % 29 + 1, budget);
  // Beast measures a head a few bytes longer when it comes in one piece.
  if (whole.long_head || cut.long_head) return 0;
  // What is malformed may be seen earlier in one piece than in many, but then nothing more is read behind it in either.
  demand(whole.refused ? whole.text.starts_with(cut.text) : cut.refused || whole.text == cut.text);
  demand(!cut.refused || cut.text.starts_with(whole.text));
  read(bytes, bytes.size(), small);
  demand(budget->taken() == 0 && small->taken() == 0);
  return 0;
}
