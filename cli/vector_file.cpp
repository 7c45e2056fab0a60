#include "vector_file.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "files.h"
#include "flags.h"
#include "tenfold/error.h"

namespace tenfold::cli {
namespace {

constexpr std::int64_t kHeader = 128;  // of .npy: its length does not change when the number of rows is known

void append_json(std::span<const float> row, std::string& text) {
  text += "{\"embedding\": [";
  char digits[32];
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, row[i]);
    text.append(i ? ", " : "").append(digits, end);
  }
  text += "]}\n";
}

}  // namespace

VectorFile::VectorFile(const std::string& path, std::int64_t width, const std::string& how, bool resume, std::int64_t window)
    : path_(path), part_(path + ".part"), note_(path + ".part.how"), how_(how), width_(width) {
  const std::string kind = extension(path);
  if (kind != ".npy" && kind != ".fvecs" && kind != ".jsonl")
    throw UsageError("the vectors' file ends in .npy, .fvecs or .jsonl, not '" + kind + "'");
  kind_ = kind == ".npy" ? npy : kind == ".fvecs" ? fvecs : jsonl;
  std::int64_t bytes = 0;
  std::error_code none;
  if (resume && std::filesystem::exists(part_, none)) {
    if (!std::filesystem::exists(note_, none) || read_whole(note_) != how)
      throw Error(ErrorKind::invalid_argument,
                  "'" + part_ + "' was made by another model or other flags; remove it, or leave --resume out");
    rows_ = complete(window, bytes);
  }
  if (rows_ > 0) {
    std::filesystem::resize_file(part_, static_cast<std::uintmax_t>(bytes), none);
    out_.open(part_, std::ios::binary | std::ios::in | std::ios::out);
    out_.seekp(0, std::ios::end);
    need("open");
  }
}

// A file that has no vector yet is made with the first ones, so that a refused text leaves none behind.
void VectorFile::begin() {
  if (out_.is_open()) return;
  std::ofstream(note_, std::ios::binary) << how_;
  out_.open(part_, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
  out_ << std::string(static_cast<std::size_t>(front()), ' ');
  need("write");
}

std::int64_t VectorFile::front() const { return kind_ == npy ? kHeader : 0; }

// How many rows of whole windows the part has, and where they end.
std::int64_t VectorFile::complete(std::int64_t window, std::int64_t& bytes) const {
  const std::int64_t row = 4 * width_ + (kind_ == fvecs ? 4 : 0);
  if (kind_ != jsonl) {
    const std::int64_t rows = std::max<std::int64_t>(0, size_of_file(part_) - front()) / row / window * window;
    bytes = front() + rows * row;
    return rows;
  }
  std::ifstream in(part_, std::ios::binary);
  std::int64_t rows = 0, at = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    at += static_cast<std::int64_t>(line.size()) + 1;
    if (++rows % window == 0) bytes = at;
  }
  return rows / window * window;
}

std::string VectorFile::header() const {
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows_) + ", " + std::to_string(width_) + "), }";
  text.resize(kHeader - 11, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(kHeader - 10) + '\0' + text + "\n";
}

void VectorFile::append(std::span<const float> rows) {
  begin();
  const auto width = static_cast<std::size_t>(width_);
  if (kind_ == npy) {
    out_.write(reinterpret_cast<const char*>(rows.data()), static_cast<std::streamsize>(rows.size_bytes()));
  } else {
    std::string text;
    const auto length = static_cast<std::uint32_t>(width_);
    for (std::size_t at = 0; at < rows.size(); at += width) {
      if (kind_ == jsonl)
        append_json(rows.subspan(at, width), text);
      else
        text.append(reinterpret_cast<const char*>(&length), 4).append(reinterpret_cast<const char*>(rows.data() + at), 4 * width);
    }
    out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  out_.flush();
  need("write");
  rows_ += static_cast<std::int64_t>(rows.size() / width);
}

void VectorFile::finish() {
  begin();
  if (kind_ == npy) {
    out_.seekp(0);
    out_ << header();
  }
  out_.close();
  need("write");
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) throw Error(ErrorKind::io, "cannot rename '" + part_ + "' to '" + path_ + "': " + error.message());
  std::filesystem::remove(note_, error);
}

void VectorFile::need(const char* doing) {
  if (!out_) throw Error(ErrorKind::io, std::string("cannot ") + doing + " '" + part_ + "': " + std::strerror(errno));
}

}  // namespace tenfold::cli
