// libFuzzer target: files of arrays, .npy, .npz and TensorProto. Any bytes end in arrays that lie inside the file, or in an Error(io).
#include <string>

#include "base/check.h"
#include "cpu_limit.h"
#include "formats/arrays/convert.h"
#include "formats/arrays/npz.h"
#include "formats/arrays/tensor_proto.h"

using namespace tenfold;

namespace {

template <class Read>
void refused_or(Read read) {
  try {
    read();
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::io, "refused as something else: ", error.what());
  }
}

void look_at(const formats::NpyArray& array) {
  refused_or([&] {
    const Tensor t = formats::to_tensor(array, "input");
    check(t.shape() == array.shape, "a tensor has another shape than its array");
    const std::string again = formats::to_npy(t);
    check(formats::parse_npy(again, "written").shape == array.shape, "what is written has another shape");
  });
  for (const DType type : {DType::f16, DType::i8, DType::boolean}) refused_or([&] { formats::converted_to(array, type, "input"); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  refused_or([&] { look_at(formats::parse_npy(input, "input")); });
  refused_or([&] {
    for (const auto& [name, array] : formats::parse_npz(input, "input")) look_at(array);
  });
  refused_or([&] { formats::parse_tensor_proto(input, "input"); });
  return 0;
}
