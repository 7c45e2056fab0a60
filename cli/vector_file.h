// Vectors into a file that grows: .npy, .fvecs or .jsonl. Until all are there it is FILE.part.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace tenfold::cli {

class VectorFile {
 public:
  // `how` says what the vectors are made by. With `resume` the rows of an earlier file that was made in the same way stay, a multiple of
  // `window`; Error(invalid_argument): it was made in another way. Throws Error(io).
  VectorFile(const std::string& path, std::int64_t width, const std::string& how, bool resume, std::int64_t window);
  std::int64_t rows() const { return rows_; }
  void append(std::span<const float> rows);  // whole ones, which reach the system before this returns
  void finish();                             // FILE.part becomes FILE

 private:
  enum Kind : std::uint8_t { npy, fvecs, jsonl };
  std::int64_t front() const;  // bytes before the first row
  std::int64_t complete(std::int64_t window, std::int64_t& bytes) const;
  std::string header() const;
  void begin();
  void need(const char* doing);
  std::string path_, part_, note_, how_;
  std::int64_t width_, rows_ = 0;
  Kind kind_;
  std::fstream out_;
};

}  // namespace tenfold::cli
