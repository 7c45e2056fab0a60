// Arrays, cut along their first axis.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "formats/arrays/convert.h"
#include "formats/arrays/npz.h"
#include "formats/files.h"
#include "formats/samples/samples.h"
#include "formats/shape_text.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

// How an array holds samples of one input, one behind another.
struct Cut {
  std::int64_t count = 0;
  Shape shape;  // of one sample
};

bool fits(const Shape& requested, const Shape& shape) {
  return requested.size() == shape.size() &&
         std::equal(requested.begin(), requested.end(), shape.begin(), [](std::int64_t w, std::int64_t d) { return w < 0 || w == d; });
}

Cut cut_of(const Tensor& array, const BindingInfo& input, bool one_sample, const std::string& what) {
  const Shape &have = array.shape(), &expected = input.shape;
  if (one_sample && fits(expected, have)) return {1, have};
  if (have.size() == expected.size() && !expected.empty()) {
    const std::int64_t batch = expected[0] > 0 ? expected[0] : 1;
    Shape one = have;
    one[0] = batch;
    if (fits(expected, one) && have[0] >= batch) return {have[0] / batch, one};
  }
  if (have.size() == expected.size() + 1)
    if (const Shape each(have.begin() + 1, have.end()); fits(expected, each)) return {have[0], each};
  Shape one = have;
  one.insert(one.begin(), 1);
  if (fits(expected, one)) return {1, one};
  throw Error(ErrorKind::io, what + " is " + shape_text(have) + "; samples of the input '" + input.name + "' are " + shape_text(expected) +
                                 " behind one another along the first axis");
}

Tensor sample_of(const Tensor& array, const Shape& shape, std::int64_t number) {
  Tensor one(array.dtype(), shape);
  if (one.dtype() == DType::string) {
    const auto first = array.string_values().begin() + number * one.size();
    return Tensor::strings(shape, {first, first + one.size()});
  }
  std::memcpy(one.mutable_raw(), static_cast<const char*>(array.raw()) + number * one.bytes(), static_cast<std::size_t>(one.bytes()));
  return one;
}

class ArraySamples : public Samples {
 public:
  ArraySamples(ArraySource source, std::vector<BindingInfo> inputs, LogCallback log)
      : source_(std::move(source)), inputs_(std::move(inputs)), log_(std::move(log)) {}
  std::optional<InputSet> at(int index) override;

 private:
  struct Piece {
    std::map<std::string, Tensor> arrays;
    std::map<std::string, Cut> cuts;
    std::int64_t count = 0;
  };
  std::shared_ptr<const Piece> read(const ArrayBytes& from);
  ArraySource source_;
  std::vector<BindingInfo> inputs_;
  LogCallback log_;
  std::set<std::string> reported_;      // inputs whose elements are converted
  std::size_t reached_ = 0;             // the number of the piece after piece_
  std::shared_ptr<const Piece> piece_;  // null: none is read yet
  std::int64_t first_ = 0;              // the number of piece_'s first sample
};

std::shared_ptr<const ArraySamples::Piece> ArraySamples::read(const ArrayBytes& from) {
  auto piece = std::make_shared<Piece>();
  if (from.alone && inputs_.size() != 1)
    throw Error(ErrorKind::io,
                from.what + " holds one array, and the model has " + std::to_string(inputs_.size()) + " inputs: give .npz by name");
  const std::map<std::string, NpyArray> arrays =
      from.alone ? std::map{std::pair(inputs_[0].name, parse_npy(from.bytes, from.what))} : parse_npz(from.bytes, from.what);
  for (const BindingInfo& input : inputs_) {
    const auto at = arrays.find(input.name);
    const std::string what = from.alone ? from.what : from.what + "['" + input.name + "']";
    if (at == arrays.end()) throw Error(ErrorKind::io, from.what + " has no array '" + input.name + "', which is an input of the model");
    const auto [array, reported] = converted_to(at->second, input.dtype, what);
    if (!reported.empty() && reported_.insert(input.name).second && log_) log_(Severity::info, reported);
    const Cut cut = cut_of(array, input, from.one_sample, what);
    if (&input == &inputs_.front()) piece->count = cut.count;
    if (cut.count != piece->count)
      throw Error(ErrorKind::io,
                  what + " has " + std::to_string(cut.count) + " samples, '" + inputs_.front().name + "' " + std::to_string(piece->count));
    piece->arrays[input.name] = array, piece->cuts[input.name] = cut;
  }
  return piece;
}

std::optional<InputSet> ArraySamples::at(int index) {
  if (index < first_) piece_ = nullptr, reached_ = 0, first_ = 0;
  while (!piece_ || index >= first_ + piece_->count) {
    const std::optional<ArrayBytes> next = source_(reached_);
    if (!next) return {};
    first_ += piece_ ? piece_->count : 0;
    piece_ = read(*next), ++reached_;
  }
  InputSet set;
  for (const auto& [name, array] : piece_->arrays) set[name] = sample_of(array, piece_->cuts.at(name).shape, index - first_);
  return set;
}

}  // namespace

std::unique_ptr<Samples> array_samples(ArraySource source, std::vector<BindingInfo> inputs, LogCallback log) {
  return std::make_unique<ArraySamples>(std::move(source), std::move(inputs), std::move(log));
}

ArraySource arrays_in_files(std::vector<std::string> files) {
  return [files = std::move(files)](std::size_t number) -> std::optional<ArrayBytes> {
    if (number >= files.size()) return {};
    return ArrayBytes{files[number], read_whole(files[number]), extension(files[number]) == ".npy"};
  };
}

}  // namespace tenfold::formats
