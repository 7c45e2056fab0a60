// libFuzzer target: CSV, and specifications of images. Any bytes end in records or a specification, or in an Error.
#include <algorithm>
#include <string>

#include "base/check.h"
#include "cpu_limit.h"
#include "formats/images/image_spec.h"
#include "formats/texts/csv.h"

using namespace tenfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try {
    const int lines = 1 + static_cast<int>(std::count(input.begin(), input.end(), '\n'));
    for (const formats::CsvRecord& record : formats::parse_csv(input, ',', "input"))
      check(!record.fields.empty() && record.line >= 1 && record.line <= lines, "a record begins on line ", record.line);
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::io, "refused as something else: ", error.what());
  }
  try {
    BindingInfo info;
    info.name = "x", info.shape = {-1, 3, -1, -1};
    const formats::ImageForm form = formats::resolve_image_spec(formats::parse_image_spec(std::string(input)), {info});
    const formats::ImageForm again = formats::resolve_image_spec(formats::parse_image_spec(form.text()), {info});
    check(again.text() == form.text(), "a form's text gives another form: ", form.text());
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::invalid_argument, "refused as something else: ", error.what());
  }
  return 0;
}
