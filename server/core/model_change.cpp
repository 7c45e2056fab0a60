#include "core/model_change.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace tenfold::server {
namespace {

void append_text(std::string& out, const std::string& text) {
  const std::uint64_t size = text.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

std::string take_text(std::string_view& bytes) {
  std::uint64_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (bytes.size() < sizeof size || bytes.size() - sizeof size < size) throw std::runtime_error("a list of models is cut short");
  std::string text(bytes.substr(sizeof size, size));
  bytes.remove_prefix(sizeof size + size);
  return text;
}

}  // namespace

std::string write_changes(const std::vector<ModelChange>& changes) {
  std::string bytes;
  for (const ModelChange& change : changes) {
    bytes += change.loaded ? 'L' : 'U';
    append_text(bytes, change.name);
    append_text(bytes, change.config);
  }
  return bytes;
}

std::vector<ModelChange> read_changes(std::string_view bytes) {
  std::vector<ModelChange> changes;
  while (!bytes.empty()) {
    ModelChange change;
    change.loaded = bytes.front() == 'L';
    bytes.remove_prefix(1);
    change.name = take_text(bytes);
    change.config = take_text(bytes);
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace tenfold::server
