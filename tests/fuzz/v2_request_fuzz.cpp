// libFuzzer target: bodies of v2 inferences, JSON and binary, for a model with one input and for one with three. What stands in front of
// the first line's end is Inference-Header-Content-Length. A request is read, and suits the model, or is refused with words.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/checks.h"
#include "cpu_limit.h"
#include "net/http_message.h"
#include "protocol/v2_message.h"

using namespace tenfold;
using namespace tenfold::server;

namespace {

// y = Relu(x f32[b,2]), and that beside identities of s string[b] and i int64[b,1], as ONNX files.
constexpr const char* kOne =
    "08083a3d0a0c0a0178120179220452656c751201675a140a0178120f0a0d080112090a031201620a02080262140a0179120f0a0d080112090a031201"
    "620a02080242040a001011";
constexpr const char* kThree =
    "08083ab1010a0c0a0178120179220452656c750a100a017312017422084964656e746974790a100a016912016a22084964656e746974791201675a14"
    "0a0178120f0a0d080112090a031201620a0208025a100a0173120b0a09080812050a031201625a140a0169120f0a0d080712090a031201620a020801"
    "62140a0179120f0a0d080112090a031201620a02080262100a0174120b0a09080812050a0312016262140a016a120f0a0d080712090a031201620a02"
    "080142040a001011";

std::shared_ptr<Model> open(const std::string& hex, const std::string& name) {
  const std::string path = (std::filesystem::temp_directory_path() / ("v2_request_fuzz_" + std::to_string(::getpid()) + ".onnx")).string();
  std::ofstream file(path, std::ios::binary);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) file.put(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  file.close();
  ModelOptions options;
  options.name = name, options.path = path, options.served.max_batch = 4, options.served.tune = Tune::never;
  auto model = std::make_shared<Model>(options);
  std::filesystem::remove(path);
  return model;
}

volatile unsigned sum = 0;

void read(const Model& model, const V2Body& body) {
  try {
    V2Request v2 = read_v2_request(body, model);
    check_request(model, v2.request);
    for (const InferInput& input : v2.request.inputs) {
      for (const auto& piece : input.pieces)
        for (const std::byte& byte : piece) sum = sum + static_cast<unsigned>(byte);   // all of it can be read
      if (input.pieces.empty() == input.strings.empty() && checked_elements(input.shape, input.name) > 0) std::abort();
    }
  } catch (const RequestError& error) {
    if (std::strlen(error.what()) == 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::shared_ptr<Model> one = open(kOne, "one"), three = open(kThree, "three");
  const fuzz::CpuLimit limit;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (line == std::string_view::npos) return 0;
  const std::string_view text = input.substr(line + 1);
  const std::shared_ptr<std::byte[]> memory(new std::byte[text.size() + kBodyPadding]());
  std::memcpy(memory.get(), text.data(), text.size());
  const V2Body body{memory, {reinterpret_cast<const char*>(memory.get()), text.size()}, input.substr(0, line)};
  read(*one, body);
  read(*three, body);
  return 0;
}
