#include "formats/arrays/vector_file.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "formats/files.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

constexpr const char* kEndOfHow = "\n-- rows, bytes, digest of the texts\n";
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

VectorFile::VectorFile(const std::string& path, std::int64_t width, const std::string& how, bool resume)
    : path_(path), part_(path + ".part"), note_(path + ".part.how"), how_(how + kEndOfHow), width_(width) {
  const std::string kind = extension(path);
  if (kind != ".npy" && kind != ".fvecs" && kind != ".jsonl")
    throw Error(ErrorKind::invalid_argument, "the vectors' file ends in .npy, .fvecs or .jsonl, not '" + kind + "'");
  kind_ = kind == ".npy" ? npy : kind == ".fvecs" ? fvecs : jsonl;
  expect_writable(part_), expect_writable(note_);
  std::error_code none;
  if (resume && std::filesystem::exists(part_, none)) resumed_ = last_mark();
  if (resumed_) rows_ = resumed_->rows, bytes_ = resumed_->bytes;
}

// Nothing is touched before the caller knows that the texts are the same.
void VectorFile::go_on() {
  std::error_code error;
  std::filesystem::resize_file(part_, static_cast<std::uintmax_t>(bytes_), error);
  if (error) throw Error(ErrorKind::io, "cannot cut '" + part_ + "' to its last whole window: " + error.message());
  out_.open(part_, std::ios::binary | std::ios::in | std::ios::out);
  out_.seekp(0, std::ios::end);
  need(out_, "open", part_);
  marks_.open(note_, std::ios::binary | std::ios::app);
  need(marks_, "open", note_);
}

// The last place that both files have. The run may have been ended while it wrote either.
std::optional<VectorFile::Mark> VectorFile::last_mark() const {
  std::error_code none;
  const std::string note = std::filesystem::exists(note_, none) ? read_whole(note_) : "";
  if (!note.starts_with(how_))
    throw Error(ErrorKind::invalid_argument, "'" + part_ +
                                                 "' was made by another model, with other flags or on another kind of machine: '" + note_ +
                                                 "' says so; remove it, or leave --resume out");
  const std::int64_t size = size_of_file(part_);
  std::optional<Mark> last;
  std::istringstream lines(note.substr(how_.size()));
  Mark mark;
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    std::istringstream words(line);
    if (words >> mark.rows >> mark.bytes >> mark.digest && mark.rows > 0 && mark.bytes <= size) last = mark;
  }
  return last;
}

// A file that has no vector yet is made with the first ones, so that a refused text leaves none behind.
void VectorFile::begin() {
  if (out_.is_open()) return;
  if (resumed_) return go_on();
  marks_.open(note_, std::ios::binary | std::ios::trunc);
  marks_ << how_ << std::flush;
  need(marks_, "write", note_);
  out_.open(part_, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
  bytes_ = kind_ == npy ? kHeader : 0;
  out_ << std::string(static_cast<std::size_t>(bytes_), ' ');
  need(out_, "write", part_);
}

std::string VectorFile::header() const {
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows_) + ", " + std::to_string(width_) + "), }";
  text.resize(kHeader - 11, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(kHeader - 10) + '\0' + text + "\n";
}

void VectorFile::write(std::span<const float> rows) {
  if (kind_ == npy) {
    out_.write(reinterpret_cast<const char*>(rows.data()), static_cast<std::streamsize>(rows.size_bytes()));
    bytes_ += static_cast<std::int64_t>(rows.size_bytes());
    return;
  }
  const auto width = static_cast<std::size_t>(width_);
  std::string text;
  const auto length = static_cast<std::uint32_t>(width_);
  for (std::size_t at = 0; at < rows.size(); at += width) {
    if (kind_ == jsonl)
      append_json(rows.subspan(at, width), text);
    else
      text.append(reinterpret_cast<const char*>(&length), 4).append(reinterpret_cast<const char*>(rows.data() + at), 4 * width);
  }
  out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  bytes_ += static_cast<std::int64_t>(text.size());
}

void VectorFile::append(std::span<const float> rows, const std::string& digest) {
  begin();
  write(rows);
  out_.flush();
  need(out_, "write", part_);
  rows_ += static_cast<std::int64_t>(rows.size()) / width_;
  marks_ << rows_ << ' ' << bytes_ << ' ' << digest << std::endl;
  need(marks_, "write", note_);
}

void VectorFile::finish() {
  begin();
  if (kind_ == npy) {
    out_.seekp(0);
    out_ << header();
  }
  out_.close();
  need(out_, "write", part_);
  marks_.close();
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) throw Error(ErrorKind::io, "cannot rename '" + part_ + "' to '" + path_ + "': " + error.message());
  std::filesystem::remove(note_, error);
}

void VectorFile::need(const std::ostream& out, const char* doing, const std::string& path) {
  if (!out) throw Error(ErrorKind::io, std::string("cannot ") + doing + " '" + path + "': " + std::strerror(errno));
}

}  // namespace tenfold::formats
