// Files of arrays, cut along their first axis.
#include <algorithm>
#include <cstring>
#include <map>

#include "data.h"
#include "files.h"
#include "npz.h"

namespace tenfold::cli {
namespace {

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t d : shape) text += (text.empty() ? "" : ",") + (d < 0 ? std::string("?") : std::to_string(d));
  return "[" + text + "]";
}

// How an array holds samples of one input, one behind another.
struct Cut {
  std::int64_t count = 0;
  Shape shape;  // of one sample
};

bool fits(const Shape& wanted, const Shape& shape) {
  return wanted.size() == shape.size() &&
         std::equal(wanted.begin(), wanted.end(), shape.begin(), [](std::int64_t w, std::int64_t d) { return w < 0 || w == d; });
}

Cut cut_of(const Tensor& array, const BindingInfo& input, const std::string& what) {
  const Shape &have = array.shape(), &want = input.shape;
  if (have.size() == want.size() && !want.empty()) {
    const std::int64_t batch = want[0] > 0 ? want[0] : 1;
    Shape one = have;
    one[0] = batch;
    if (fits(want, one) && have[0] >= batch) return {have[0] / batch, one};
  }
  if (have.size() == want.size() + 1)
    if (const Shape each(have.begin() + 1, have.end()); fits(want, each)) return {have[0], each};
  Shape one = have;
  one.insert(one.begin(), 1);
  if (fits(want, one)) return {1, one};
  throw Error(ErrorKind::io, what + " is " + shape_text(have) + "; samples of the input '" + input.name + "' are " + shape_text(want) +
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
  ArraySamples(std::vector<std::string> files, std::vector<BindingInfo> inputs) : inputs_(std::move(inputs)), files_(std::move(files)) {}
  std::optional<InputSet> at(int index) override;

 private:
  struct File {
    std::map<std::string, Tensor> arrays;
    std::map<std::string, Cut> cuts;
    std::int64_t count = 0;
  };
  std::shared_ptr<const File> read(const std::string& path) const;
  std::vector<BindingInfo> inputs_;
  std::vector<std::string> files_;
  std::size_t reached_ = 0;           // of files_: the one after file_
  std::shared_ptr<const File> file_;  // null: none is read yet
  std::int64_t first_ = 0;            // the number of file_'s first sample
};

std::shared_ptr<const ArraySamples::File> ArraySamples::read(const std::string& path) const {
  auto file = std::make_shared<File>();
  const std::string bytes = read_whole(path);
  const bool alone = extension(path) == ".npy";
  if (alone && inputs_.size() != 1)
    throw Error(ErrorKind::io,
                path + " holds one array, and the model has " + std::to_string(inputs_.size()) + " inputs: give .npz by name");
  const std::map<std::string, NpyArray> arrays =
      alone ? std::map{std::pair(inputs_[0].name, parse_npy(bytes, path))} : parse_npz(bytes, path);
  for (const BindingInfo& input : inputs_) {
    const auto at = arrays.find(input.name);
    const std::string what = alone ? path : path + "['" + input.name + "']";
    if (at == arrays.end()) throw Error(ErrorKind::io, path + " has no array '" + input.name + "', which is an input of the model");
    const Tensor array = to_tensor(at->second, input.dtype, what);
    const Cut cut = cut_of(array, input, what);
    if (&input == &inputs_.front()) file->count = cut.count;
    if (cut.count != file->count)
      throw Error(ErrorKind::io,
                  what + " has " + std::to_string(cut.count) + " samples, '" + inputs_.front().name + "' " + std::to_string(file->count));
    file->arrays[input.name] = array, file->cuts[input.name] = cut;
  }
  return file;
}

std::optional<InputSet> ArraySamples::at(int index) {
  if (index < first_) file_ = nullptr, reached_ = 0, first_ = 0;
  while (!file_ || index >= first_ + file_->count) {
    if (reached_ == files_.size()) return {};
    first_ += file_ ? file_->count : 0;
    file_ = read(files_[reached_++]);
  }
  InputSet set;
  for (const auto& [name, array] : file_->arrays) set[name] = sample_of(array, file_->cuts.at(name).shape, index - first_);
  return set;
}

}  // namespace

std::unique_ptr<Samples> array_samples(std::vector<std::string> files, std::vector<BindingInfo> inputs) {
  return std::make_unique<ArraySamples>(std::move(files), std::move(inputs));
}

}  // namespace tenfold::cli
