// Which files a path of samples names.
#include "formats/samples/samples.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "formats/files.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

namespace fs = std::filesystem;

bool is_array_name(const std::string& path) { return extension(path) == ".npz" || extension(path) == ".npy"; }

struct FolderFiles {
  std::vector<std::string> arrays, images;   // by name
};

// What begins with a dot is hidden, such as the ._files that macOS puts beside each file of a foreign disk.
bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

fs::directory_iterator entries_of(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) throw Error(ErrorKind::io, "cannot read the folder '" + folder.string() + "': " + error.message());
  return entries;
}

FolderFiles files_in(const fs::path& folder) {
  FolderFiles folder_files;
  std::error_code error;
  for (const auto& entry : entries_of(folder)) {
    const std::string file = entry.path().string();
    if (is_hidden(entry.path()) || !entry.is_regular_file(error)) continue;
    if (is_array_name(file)) folder_files.arrays.push_back(file);
    if (is_image_name(file)) folder_files.images.push_back(file);
  }
  std::sort(folder_files.arrays.begin(), folder_files.arrays.end()), std::sort(folder_files.images.begin(), folder_files.images.end());
  return folder_files;
}

// Of a folder that has a folder for each class, as ImageNet has: the first photograph of each, then the second of each and so on, so that
// the first few hundred are of all classes.
std::vector<std::string> photographs_of_classes(const fs::path& folder) {
  std::vector<fs::path> inside;
  std::error_code error;
  for (const auto& entry : entries_of(folder))
    if (!is_hidden(entry.path()) && entry.is_directory(error)) inside.push_back(entry.path());
  std::sort(inside.begin(), inside.end());
  std::vector<std::vector<std::string>> classes;
  for (const fs::path& one : inside) classes.push_back(files_in(one).images);
  std::vector<std::string> all;
  for (std::size_t place = 0, before = 1; before != all.size(); ++place) {
    before = all.size();
    for (const std::vector<std::string>& one : classes)
      if (place < one.size()) all.push_back(one[place]);
  }
  return all;
}

FolderFiles files_of(const SampleSource& source) {
  const std::string &name = source.names.data, &path = source.path;
  std::error_code error;
  if (!fs::exists(path, error)) throw Error(ErrorKind::io, name + ": there is no '" + path + "'");
  if (!fs::is_directory(path, error)) {
    if (is_array_name(path)) return {{path}, {}};
    if (is_image_name(path)) return {{}, {path}};
    throw Error(ErrorKind::io, name + " takes .npz, .npy or a folder of them, JPEG, PNG or a folder of those" + source.other_kinds +
                                   ", not '" + path + "'");
  }
  FolderFiles folder_files = files_in(path);
  if (folder_files.arrays.empty() && folder_files.images.empty()) folder_files.images = photographs_of_classes(path);
  if (folder_files.arrays.empty() && folder_files.images.empty())
    throw Error(ErrorKind::io, name + ": no images in '" + path + "' or in the folders inside it, and no .npz or .npy");
  return folder_files;
}

std::string counted(std::size_t count, const char* what) { return std::to_string(count) + " " + what + (count == 1 ? "" : "s"); }

}  // namespace

std::unique_ptr<Samples> open_samples(SampleSource source) {
  std::erase_if(source.inputs, [](const BindingInfo& b) { return !b.is_input || b.has_default; });
  FolderFiles folder_files = files_of(source);
  const bool takes_images = !folder_files.images.empty() && (folder_files.arrays.empty() || source.image);
  if (source.image && !takes_images)
    throw Error(ErrorKind::invalid_argument, source.names.image + " is for photographs, and '" + source.path + "' holds arrays");
  if (!folder_files.images.empty() && !folder_files.arrays.empty() && source.log)
    source.log(Severity::warning, "'" + source.path + "' holds " + counted(folder_files.arrays.size(), "file") + " of arrays and " +
                                      counted(folder_files.images.size(), "photograph") + ": the " +
                                      (takes_images ? "photographs are used, for " + source.names.image + " is given"
                                                    : "arrays are used; " + source.names.image + "=SPEC takes the photographs"));
  return takes_images ? image_samples(std::move(folder_files.images), source)
                      : array_samples(arrays_in_files(std::move(folder_files.arrays)), std::move(source.inputs), source.log);
}

InputSet join_samples(Samples& samples, int max_samples, const std::string& what) {
  std::vector<InputSet> all;
  while (static_cast<int>(all.size()) < max_samples) {
    std::optional<InputSet> one = samples.at(static_cast<int>(all.size()));
    if (!one) break;
    all.push_back(std::move(*one));
  }
  InputSet joined;
  if (all.empty()) return joined;
  for (const auto& [input, first] : all.front()) {
    Shape shape = first.shape();
    if (shape.empty() || first.dtype() == DType::string || bits(first.dtype()) < 8)
      throw Error(ErrorKind::io,
                  what + ": samples of '" + input + "', " + std::string(name(first.dtype())) + "[" + text(shape) + "], cannot be joined");
    shape[0] *= static_cast<std::int64_t>(all.size());
    Tensor tensor(first.dtype(), shape);
    auto* to = tensor.mutable_data<char>();
    for (const InputSet& one : all) {
      const Tensor& part = one.at(input);
      if (part.shape() != first.shape())
        throw Error(ErrorKind::io, what + ": samples of '" + input + "' differ in shape: [" + text(first.shape()) + "] and [" +
                                       text(part.shape()) + "]");
      std::memcpy(to, part.raw(), static_cast<std::size_t>(part.bytes())), to += part.bytes();
    }
    joined[input] = std::move(tensor);
  }
  return joined;
}

}  // namespace tenfold::formats
