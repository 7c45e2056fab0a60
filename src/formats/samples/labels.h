// Labels: which class each sample belongs to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenfold::formats {

// A file with a line for each sample: its class, a number from 0 on, or "FILE CLASS", also as CSV ("FILE,CLASS") with or without a line of
// titles. Empty lines and those that begin with # do not count.
class Labels {
 public:
  // Throws Error(io) with file and line, beginning with `name`.
  explicit Labels(const std::string& path, const std::string& name = "labels");
  // That of the sample of this number, which is a photograph of this path or (empty) a row of an array. Files are known by their name
  // without folders. Throws Error(io) where there is no label.
  std::int64_t of(std::size_t number, const std::string& path) const;
  std::int64_t largest() const { return largest_; }

 private:
  std::string path_, name_;
  std::vector<std::int64_t> in_order_;
  std::map<std::string, std::int64_t> by_file_;
  std::int64_t largest_ = 0;
};

}  // namespace tenfold::formats
