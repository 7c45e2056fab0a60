// Vectors into a file that grows: .npy, .fvecs or .jsonl. Until all are there it is FILE.part, and FILE.part.how says what it is made of.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>

namespace tenfold::formats {

class VectorFile {
 public:
  // A place where an earlier run can be gone on from: so many rows, of texts with this digest.
  struct Mark {
    std::int64_t rows = 0, bytes = 0;
    std::string digest;
  };

  // `how` says what decides the vectors. With `resume` the rows of an earlier file stay up to its last mark. Throws
  // Error(invalid_argument) where that one was made in another way, and Error(io).
  VectorFile(const std::string& path, std::int64_t width, const std::string& how, bool resume);
  const std::optional<Mark>& resumed() const { return resumed_; }
  std::int64_t rows() const { return rows_; }  // in the file
  // Whole rows, which reach the system before this returns, and the digest of all texts up to the last of them.
  void append(std::span<const float> rows, const std::string& digest);
  void finish();                             // FILE.part becomes FILE

 private:
  enum Kind : std::uint8_t { npy, fvecs, jsonl };
  std::optional<Mark> last_mark() const;
  void begin();
  void go_on();
  void write(std::span<const float> rows);
  std::string header() const;
  static void need(const std::ostream& out, const char* doing, const std::string& path);
  std::string path_, part_, note_, how_;
  std::int64_t width_, rows_ = 0, bytes_ = 0;
  Kind kind_;
  std::optional<Mark> resumed_;
  std::fstream out_;
  std::ofstream marks_;
};

}  // namespace tenfold::formats
