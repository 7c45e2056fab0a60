// Records of machine code.
#include "backends/code.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace tenfold::backends {
namespace {

// Before the compiler's name and the image. The checksum covers the rest of the head and both of them.
struct Head {
  std::uint64_t checksum = 0;
  Hash128 key;
  std::uint64_t compiler_bytes = 0, image_bytes = 0;
};
static_assert(sizeof(Head) == 40);

std::uint64_t checksum(const Head& head, std::string_view content) {
  const auto* rest = reinterpret_cast<const char*>(&head) + sizeof head.checksum;
  return hash64(content, hash64(std::string_view(rest, sizeof head - sizeof head.checksum)));
}

}  // namespace

std::string write_code(CodeList list) {
  const auto name = [](const std::shared_ptr<const Code>& code) { return std::tie(code->key, code->compiler); };
  std::sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return name(a) < name(b); });
  list.erase(std::unique(list.begin(), list.end(), [&](const auto& a, const auto& b) { return name(a) == name(b); }), list.end());
  std::string bytes;
  for (const auto& code : list) {
    Head head{0, code->key, code->compiler.size(), code->image.size()};
    const std::string content = code->compiler + code->image;
    head.checksum = checksum(head, content);
    bytes.append(reinterpret_cast<const char*>(&head), sizeof head);
    bytes += content;
  }
  return bytes;
}

CodeList read_code(std::span<const std::byte> bytes, bool& damaged) {
  CodeList list;
  damaged = false;
  while (!bytes.empty() && !damaged) {
    Head head;
    damaged = bytes.size() < sizeof head;
    if (damaged) break;
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    damaged = head.compiler_bytes > bytes.size() || head.image_bytes > bytes.size() - head.compiler_bytes;
    if (damaged) break;
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()), head.compiler_bytes + head.image_bytes);
    damaged = checksum(head, content) != head.checksum;
    if (damaged) break;
    list.push_back(std::make_shared<const Code>(
        Code{head.key, std::string(content.substr(0, head.compiler_bytes)), std::string(content.substr(head.compiler_bytes))}));
    bytes = bytes.subspan(content.size());
  }
  return list;
}

}  // namespace tenfold::backends
