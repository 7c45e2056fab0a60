// Ranges of bytes with their last writers.
#include "report/lifetime.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tenfold::cli {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// "arena+512" is 512 in "arena"; "binding 0" is 0 in itself. Constants' names may hold a plus, and nothing writes constants.
std::pair<std::string, std::int64_t> split_place(std::string_view place) {
  const std::size_t plus = place.rfind('+');
  std::int64_t offset = 0;
  if (plus != std::string_view::npos) {
    const char* end = place.data() + place.size();
    if (const auto read = std::from_chars(place.data() + plus + 1, end, offset); read.ec == std::errc{} && read.ptr == end && offset >= 0)
      return {std::string(place.substr(0, plus)), offset};
  }
  return {std::string(place), 0};
}

bool is_memory(std::string_view place) { return place != "-" && !place.starts_with("constant ") && !place.starts_with("literal "); }

std::int64_t end_of(std::int64_t offset, std::int64_t bytes) { return bytes < 0 || bytes > kEnd - offset ? kEnd : offset + bytes; }

}  // namespace

// No range crosses `at` afterwards.
void Lifetimes::split(Buffer& buffer, std::int64_t at) {
  auto after = buffer.lower_bound(at);
  if (after == buffer.begin()) return;
  Range& before = std::prev(after)->second;
  if (before.end <= at) return;
  const Range rest = before;
  before.end = at;
  buffer.emplace(at, rest);
}

void Lifetimes::read(int step, std::string_view place, std::int64_t bytes) {
  if (!is_memory(place) || bytes == 0) return;
  const auto [name, offset] = split_place(place);
  Buffer& buffer = buffers_[name];
  const std::int64_t end = end_of(offset, bytes);
  auto it = buffer.upper_bound(offset);
  if (it != buffer.begin()) --it;
  bool written = false;
  for (; it != buffer.end() && it->first < end; ++it) {
    if (it->second.end <= offset) continue;
    MemoryBlock& block = blocks_[static_cast<std::size_t>(it->second.block)];
    block.last = std::max(block.last, step);
    if (block.first != step) edges_.emplace(block.first, step);
    written = true;
  }
  if (std::vector<int>& readers = unwritten_[name]; !written && (readers.empty() || readers.back() != step)) readers.push_back(step);
}

void Lifetimes::write(int step, int value, std::string_view place, std::int64_t bytes) {
  if (!is_memory(place) || bytes == 0) return;
  const auto [name, offset] = split_place(place);
  Buffer& buffer = buffers_[name];
  const std::int64_t end = end_of(offset, bytes);
  split(buffer, offset), split(buffer, end);
  for (auto it = buffer.lower_bound(offset); it != buffer.lower_bound(end); it = buffer.erase(it)) {
    MemoryBlock& old = blocks_[static_cast<std::size_t>(it->second.block)];
    old.in_place = old.in_place || (old.last == step && old.first != step);
  }
  buffer[offset] = {end, static_cast<int>(blocks_.size())};
  blocks_.push_back({value, offset, bytes, step, step});
  in_arena_.push_back(name == "arena");
}

std::vector<MemoryBlock> Lifetimes::arena() const {
  std::vector<MemoryBlock> blocks;
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (in_arena_[i] && blocks_[i].bytes > 0) blocks.push_back(blocks_[i]);
  return blocks;
}

std::vector<int> Lifetimes::readers_of(const std::string& buffer) const {
  const auto it = unwritten_.find(buffer);
  return it == unwritten_.end() ? std::vector<int>() : it->second;
}

}  // namespace tenfold::cli
