// Files of samples, cut along their first axis.
#include "data.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "files.h"
#include "npz.h"

namespace tenfold::cli {
namespace {

namespace fs = std::filesystem;

bool has_arrays(const std::string& path) { return extension(path) == ".npz" || extension(path) == ".npy"; }

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw Error(ErrorKind::io, "--data: there is no '" + path + "'");
  if (!fs::is_directory(path, error)) {
    if (!has_arrays(path)) throw Error(ErrorKind::io, "--data takes .npz, .npy or a folder of them, not '" + path + "'");
    return {path};
  }
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.is_regular_file(error) && has_arrays(entry.path().string())) files.push_back(entry.path().string());
  if (files.empty()) throw Error(ErrorKind::io, "--data: no .npz and no .npy in '" + path + "'");
  std::sort(files.begin(), files.end());
  return files;
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t d : shape) text += (text.empty() ? "" : ",") + (d < 0 ? std::string("?") : std::to_string(d));
  return "[" + text + "]";
}

// How an array holds samples of one input, one behind another.
struct Cut {
  std::int64_t count = 0;
  Shape shape;   // of one sample
};

bool fits(const Shape& wanted, const Shape& shape) {
  return wanted.size() == shape.size() && std::equal(wanted.begin(), wanted.end(), shape.begin(), [](std::int64_t w, std::int64_t d) {
           return w < 0 || w == d;
         });
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

}  // namespace

struct Samples::File {
  std::map<std::string, Tensor> arrays;
  std::map<std::string, Cut> cuts;
  std::int64_t count = 0;
};

Samples::Samples(const std::string& path, std::vector<BindingInfo> inputs) : inputs_(std::move(inputs)), files_(files_of(path)) {
  std::erase_if(inputs_, [](const BindingInfo& b) { return !b.is_input || b.has_default; });
}

std::shared_ptr<const Samples::File> Samples::read(const std::string& path) const {
  auto file = std::make_shared<File>();
  const std::string bytes = read_whole(path);
  const bool alone = extension(path) == ".npy";
  if (alone && inputs_.size() != 1)
    throw Error(ErrorKind::io, path + " holds one array, and the model has " +
                                   std::to_string(inputs_.size()) + " inputs: give .npz by name");
  const std::map<std::string, NpyArray> arrays = alone ? std::map{std::pair(inputs_[0].name, parse_npy(bytes, path))}
                                                       : parse_npz(bytes, path);
  for (const BindingInfo& input : inputs_) {
    const auto at = arrays.find(input.name);
    const std::string what = alone ? path : path + "['" + input.name + "']";
    if (at == arrays.end()) throw Error(ErrorKind::io, path + " has no array '" + input.name + "', which is an input of the model");
    const Tensor array = to_tensor(at->second, input.dtype, what);
    const Cut cut = cut_of(array, input, what);
    if (&input == &inputs_.front()) file->count = cut.count;
    if (cut.count != file->count)
      throw Error(ErrorKind::io, what + " has " + std::to_string(cut.count) + " samples, '" + inputs_.front().name + "' " +
                                     std::to_string(file->count));
    file->arrays[input.name] = array, file->cuts[input.name] = cut;
  }
  return file;
}

std::optional<InputSet> Samples::at(int index) {
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

}  // namespace tenfold::cli
