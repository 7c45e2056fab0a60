// --data=lines.txt or file.csv:COLUMN: texts, by the model's tokenizer.
#include <algorithm>
#include <charconv>
#include <functional>
#include <sstream>

#include "data/data.h"
#include "flags/flags.h"
#include "formats/files.h"
#include "formats/texts/csv.h"
#include "tenfold/text.h"

namespace tenfold::cli {
namespace {

// file.csv:COLUMN; nothing after the colon, or no colon, is no column.
struct TextPath {
  std::string file, column;
  explicit TextPath(const std::string& path) : file(path) {
    const std::size_t colon = path.rfind(':');
    if (colon != std::string::npos && is_table(path.substr(0, colon))) file = path.substr(0, colon), column = path.substr(colon + 1);
  }
  static bool is_table(const std::string& path) { return formats::extension(path) == ".csv" || formats::extension(path) == ".tsv"; }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// A column by its title in the first record, or by its number from 0 on; then the first record is a text as well.
std::vector<std::string> column_of(const std::string& text, const TextPath& path, const std::string& flag) {
  const std::string what = flag + ": '" + path.file + "'";
  if (path.column.empty())
    throw UsageError(flag + "=" + path.file + ": which column? Say FILE:COLUMN, by its title or its number from 0 on");
  const std::vector<formats::CsvRecord> records = formats::parse_csv(text, formats::extension(path.file) == ".tsv" ? '\t' : ',', what);
  if (records.empty()) return {};
  const auto& titles = records[0].fields;
  const auto title = std::find(titles.begin(), titles.end(), path.column);
  std::size_t column = static_cast<std::size_t>(title - titles.begin()), first = 1;
  if (title == titles.end()) {
    const auto [end, error] = std::from_chars(path.column.data(), path.column.data() + path.column.size(), column);
    std::string all;
    for (const std::string& one : titles) all += (all.empty() ? "" : ", ") + printable(one);
    if (error != std::errc() || end != path.column.data() + path.column.size() || column >= titles.size())
      throw Error(ErrorKind::io, what + " has no column '" + printable(path.column) + "'; its titles are " + all);
    first = 0;
  }
  std::vector<std::string> texts;
  for (std::size_t i = first; i < records.size(); ++i) {
    if (column >= records[i].fields.size())
      throw Error(ErrorKind::io, what + ": line " + std::to_string(records[i].line) + " has " + std::to_string(records[i].fields.size()) +
                                     " fields, and column " + std::to_string(column) + " is asked for");
    texts.push_back(records[i].fields[column]);
  }
  return texts;
}

using Part = std::vector<std::int32_t> Encoding::*;

// What an input of an encoder gets, or of a decoder without a past; null for one that is none of these.
Part part_of(const std::string& input) {
  if (input == "input_ids") return &Encoding::ids;
  if (input == "attention_mask") return &Encoding::mask;
  if (input == "token_type_ids") return &Encoding::types;
  return nullptr;
}

bool is_places(const BindingInfo& input) { return input.name == "position_ids"; }
// A decoder's keys and values of earlier tokens, [batch, heads, tokens, size]: texts begin without any.
bool is_past(const BindingInfo& input) {
  const Shape& shape = input.shape;
  return input.name.starts_with("past") && shape.size() == 4 && shape[1] > 0 && shape[2] < 0 && shape[3] > 0;
}

class TextSamples : public formats::Samples {
 public:
  TextSamples(std::vector<std::string> texts, const SampleSource& source)
      : flag_(source.flag),
        path_(source.path),
        texts_(std::move(texts)),
        inputs_(source.inputs),
        tokenizer_(Tokenizer::load(source.tokenizer)) {
    for (const BindingInfo& input : inputs_) look_at(input);
    tokenizer_.set_padding(length_ > 0 ? Tokenizer::Padding::fixed : Tokenizer::Padding::longest, length_);
    if (length_ > 0) tokenizer_.set_truncation(length_);
  }

  std::optional<InputSet> at(int index) override {
    const std::size_t first = static_cast<std::size_t>(index) * static_cast<std::size_t>(batch_);
    if (first + static_cast<std::size_t>(batch_) > texts_.size()) return {};
    const std::vector<std::string_view> texts(texts_.begin() + static_cast<std::ptrdiff_t>(first),
                                              texts_.begin() + static_cast<std::ptrdiff_t>(first) + batch_);
    std::vector<Encoding> rows;
    try {
      rows = tokenizer_.encode_batch(texts);
    } catch (const Error& e) {
      throw Error(ErrorKind::io, "--" + flag_ + ": text " + std::to_string(first) + " of '" + path_ + "' (from 0 on" +
                                     (batch_ > 1 ? ", or one of its batch" : "") + "): " + e.what());
    }
    InputSet set;
    for (const BindingInfo& input : inputs_) set[input.name] = is_past(input) ? past_of(input) : tensor_of(input, rows);
    return set;
  }

 private:
  void look_at(const BindingInfo& input) {
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorKind::io, "--" + flag_ + ": texts cannot be input '" + input.name + "': " + why +
                                     "; python:FILE.py:NAME gives any arrays");
    };
    if (is_past(input)) return;
    if (!part_of(input.name) && !is_places(input))
      refuse("input_ids, attention_mask, token_type_ids and position_ids are what a tokenizer gives");
    if (input.dtype != DType::i64 && input.dtype != DType::i32)
      refuse("it is of " + std::string(name(input.dtype)) + ", not int64 or int32");
    if (input.shape.size() != 2) refuse("it has the shape " + text(input.shape) + ", not [batch, tokens]");
    if (input.shape[0] > 0) batch_ = static_cast<int>(input.shape[0]);
    if (input.shape[1] > 0) length_ = static_cast<int>(input.shape[1]);
  }
  Tensor past_of(const BindingInfo& input) const {
    Shape shape = input.shape;
    shape[0] = batch_, shape[2] = 0;
    return Tensor(input.dtype, shape);
  }
  static Tensor tensor_of(const BindingInfo& input, const std::vector<Encoding>& rows) {
    const auto length = static_cast<std::int64_t>(rows.front().size());
    Tensor t(input.dtype, {static_cast<std::int64_t>(rows.size()), length});
    std::int64_t at = 0;
    const auto add = [&](std::int64_t value) {
      if (input.dtype == DType::i64) t.mutable_data<std::int64_t>()[at++] = value;
      else t.mutable_data<std::int32_t>()[at++] = static_cast<std::int32_t>(value);
    };
    for (const Encoding& row : rows)
      for (std::int64_t i = 0; i < length; ++i)
        add(is_places(input) ? i : (row.*part_of(input.name))[static_cast<std::size_t>(i)]);
    return t;
  }

  std::string flag_, path_;
  std::vector<std::string> texts_;
  std::vector<BindingInfo> inputs_;
  Tokenizer tokenizer_;
  int batch_ = 1, length_ = 0;   // tokens of a row; 0: as many as the longest text of a batch has
};

}  // namespace

bool is_text(const std::string& path) { return TextPath::is_table(TextPath(path).file) || formats::extension(path) == ".txt"; }

std::unique_ptr<formats::Samples> text_samples(const SampleSource& source) {
  const std::string flag = "--" + source.flag;
  if (source.tokenizer.empty())
    throw UsageError(flag + "=" + source.path +
                     ": text takes the model's tokenizer: --tokenizer=tokenizer.json (or a folder that holds it)");
  return std::make_unique<TextSamples>(read_texts(source.flag, source.path), source);
}

std::vector<std::string> read_texts(const std::string& name, const std::string& given) {
  const std::string flag = "--" + name;
  const TextPath path(given);
  const std::string text = formats::read_whole(path.file);
  std::vector<std::string> texts = TextPath::is_table(path.file) ? column_of(text, path, flag) : lines_of(text);
  if (texts.empty()) throw Error(ErrorKind::io, flag + ": there is no text in '" + path.file + "'");
  return texts;
}

}  // namespace tenfold::cli
