// Answers that a later build would otherwise look for again: lines of text by key, in a file beside the timing cache. Shared by processes;
// never a reason to fail; safe to delete.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/hash.h"
#include "base/log.h"

namespace tenfold::builder {

class RecordFile {
 public:
  // No timing cache: nothing is kept. `header` is the first line, without its end: files with another one count as empty.
  RecordFile(const std::string& timing_cache, std::string_view suffix, std::string_view header);
  bool used() const { return !path_.empty(); }
  std::optional<std::vector<std::string>> find(const Hash128& key) const;
  // A line that holds a line break is not kept, nor is its record.
  void add(const Hash128& key, const std::vector<std::string>& lines, const Log& log) const;

 private:
  std::string content() const;

  std::string path_, header_;
};

std::string text_of(const Hash128& hash);

}  // namespace tenfold::builder
