// A server that is none: its handles are these structs, and its functions keep what the backend says.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "triton_api.h"

namespace tenfold::triton {

struct FakeInput {
  std::string name;
  TRITONSERVER_DataType type = kTritonFp32;
  std::vector<std::int64_t> shape;
  std::vector<std::string> buffers;              // bytes, in pieces
};
struct FakeOutput {
  std::string name;
  TRITONSERVER_DataType type = kTritonInvalid;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

// A request and all that became of it.
struct FakeRequest {
  std::vector<FakeInput> inputs;
  std::vector<std::string> outputs;              // that it asks for
  bool cancelled = false, refuses_outputs = false;

  std::map<std::string, std::unique_ptr<FakeOutput>> answer;
  int responses = 0, releases = 0, reports = 0, error = -1;   // the code; -1: none
  std::string message;
  bool success = false;
  std::vector<std::uint64_t> times;
  bool responded_after_release = false;
};

struct FakeBackend { std::string config = R"({"cmdline":{"default-max-batch-size":"4"}})"; void* state = nullptr; };
struct FakeModel {
  std::string name = "model", location, config;
  bool complete = true;
  FakeBackend* backend = nullptr;
  std::string completed = {};                    // what the backend set
  void* state = nullptr;
};
struct FakeInstance {
  FakeModel* model = nullptr;
  TRITONSERVER_InstanceGroupKind kind = kTritonKindCpu;
  std::int32_t device = 0;
  std::string name = "instance";
  void* state = nullptr;
  std::vector<std::pair<std::uint64_t, std::vector<std::uint64_t>>> batches = {};   // rows, times
};

// Lines that the backend logged, with the letter of their level in front.
std::string fake_log();
void clear_fake_log();

// The library, loaded once, with the functions that Triton looks up. An error is its text; empty: success.
class LoadedBackend {
 public:
  static LoadedBackend& get();
  std::string initialize(FakeBackend& backend);
  std::string finalize(FakeBackend& backend);
  std::string initialize(FakeModel& model);
  std::string finalize(FakeModel& model);
  std::string initialize(FakeInstance& instance);
  std::string finalize(FakeInstance& instance);
  std::string execute(FakeInstance& instance, const std::vector<FakeRequest*>& requests);

 private:
  LoadedBackend();
  template <class Handle>
  std::string call(const char* name, void* handle);
  void* library_ = nullptr;
};

}  // namespace tenfold::triton
