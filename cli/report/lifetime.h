// Who reads what whom wrote, by place in memory, and how long each piece of the arena is in use. Values in a plan are places: a view has
// another name than what it looks into, and the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenfold::cli {

// A piece of the arena from the step that writes it to the last step that reads it. `in_place`: that step writes its result there.
struct MemoryBlock {
  int value = 0;
  std::int64_t offset = 0, bytes = 0;
  int first = 0, last = 0;
  bool in_place = false;
};

class Lifetimes {
 public:
  // Each step's operands, then its results, in the order of steps. `bytes` -1: not known, all of a buffer from there on.
  void read(int step, std::string_view place, std::int64_t bytes);
  void write(int step, int value, std::string_view place, std::int64_t bytes);

  std::vector<MemoryBlock> arena() const;                                // those of known size, in the order of writing
  const std::set<std::pair<int, int>>& edges() const { return edges_; }  // from a step that writes to one that reads
  std::vector<int> readers_of(const std::string& buffer) const;          // of what no step wrote: "binding 0"

 private:
  struct Range {
    std::int64_t end;
    int block;
  };
  using Buffer = std::map<std::int64_t, Range>;  // disjoint, by where they begin
  void split(Buffer& buffer, std::int64_t at);
  std::map<std::string, Buffer, std::less<>> buffers_;
  std::vector<MemoryBlock> blocks_;
  std::vector<bool> in_arena_;
  std::set<std::pair<int, int>> edges_;
  std::map<std::string, std::vector<int>, std::less<>> unwritten_;
};

}  // namespace tenfold::cli
