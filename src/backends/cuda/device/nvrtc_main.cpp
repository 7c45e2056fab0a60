// tenfold-nvrtc: compiles what it is sent (helpers.h) until the sender closes its end. Its argument is NVRTC's file.
#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/helpers.h"
#include "tenfold/error.h"

int main(int count, char** arguments) {
  using namespace tenfold::backends::cuda;
  if (count > 1 && arguments[1][0] != '\0') choose_compiler(arguments[1]);
  for (Message message; receive_message(0, message);) {
    try {
      const PackedSource packed = unpack_source(message.text);
      message = {1, compile(packed.source, packed.files, static_cast<int>(message.number))};
    } catch (const tenfold::Error& e) {
      message = {0, e.what()};
    }
    if (!send_message(1, message)) return 1;
  }
  return 0;
}
