// Triton's functions, as the backend finds them in the test program.
#include "fake_triton_for_tests.h"

#include <dlfcn.h>

struct TRITONSERVER_Error { TRITONSERVER_Error_Code code; std::string message; };
struct TRITONSERVER_Message { std::string json; };
namespace tenfold::triton {
struct FakeResponse { FakeRequest* request; };
}
using namespace tenfold::triton;

namespace {

std::mutex log_mutex;
std::string log_text;

template <class To, class From>
To& as(From* handle) { return *reinterpret_cast<To*>(handle); }
TRITONSERVER_Error* internal(const std::string& text) { return new TRITONSERVER_Error{kTritonInternal, text}; }

}  // namespace

namespace tenfold::triton {

std::string fake_log() {
  const std::lock_guard lock(log_mutex);
  return log_text;
}
void clear_fake_log() {
  const std::lock_guard lock(log_mutex);
  log_text.clear();
}

LoadedBackend& LoadedBackend::get() {
  static LoadedBackend backend;
  return backend;
}
LoadedBackend::LoadedBackend() : library_(::dlopen(TENFOLD_TRITON_BACKEND, RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) throw std::runtime_error(::dlerror());
}

namespace {
std::string taken(TRITONSERVER_Error* error) {
  const std::unique_ptr<TRITONSERVER_Error> owned(error);
  return owned ? owned->message : "";
}
}  // namespace

template <class Handle>
std::string LoadedBackend::call(const char* name, void* handle) {
  const auto function = reinterpret_cast<TRITONSERVER_Error* (*)(Handle*)>(::dlsym(library_, name));
  return function ? taken(function(static_cast<Handle*>(handle))) : std::string("the library has no ") + name;
}
std::string LoadedBackend::initialize(FakeBackend& b) { return call<TRITONBACKEND_Backend>("TRITONBACKEND_Initialize", &b); }
std::string LoadedBackend::finalize(FakeBackend& b) { return call<TRITONBACKEND_Backend>("TRITONBACKEND_Finalize", &b); }
std::string LoadedBackend::initialize(FakeModel& m) { return call<TRITONBACKEND_Model>("TRITONBACKEND_ModelInitialize", &m); }
std::string LoadedBackend::finalize(FakeModel& m) { return call<TRITONBACKEND_Model>("TRITONBACKEND_ModelFinalize", &m); }
std::string LoadedBackend::initialize(FakeInstance& i) {
  return call<TRITONBACKEND_ModelInstance>("TRITONBACKEND_ModelInstanceInitialize", &i);
}
std::string LoadedBackend::finalize(FakeInstance& i) {
  return call<TRITONBACKEND_ModelInstance>("TRITONBACKEND_ModelInstanceFinalize", &i);
}
std::string LoadedBackend::execute(FakeInstance& instance, const std::vector<FakeRequest*>& requests) {
  using Execute = TRITONSERVER_Error* (*)(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request**, std::uint32_t);
  const auto function = reinterpret_cast<Execute>(::dlsym(library_, "TRITONBACKEND_ModelInstanceExecute"));
  std::vector<TRITONBACKEND_Request*> handles;
  for (FakeRequest* const one : requests) handles.push_back(static_cast<TRITONBACKEND_Request*>(static_cast<void*>(one)));
  auto* const handle = static_cast<TRITONBACKEND_ModelInstance*>(static_cast<void*>(&instance));
  return taken(function(handle, handles.data(), static_cast<std::uint32_t>(handles.size())));
}

}  // namespace tenfold::triton

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* text) { return new TRITONSERVER_Error{code, text}; }
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) { delete error; }
const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->message.c_str(); }
bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level) { return level != kTritonVerbose; }
TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level, const char*, int, const char* text) {
  const std::lock_guard lock(log_mutex);
  log_text += std::string("IWEV").substr(static_cast<std::size_t>(level), 1) + " " + text + "\n";
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message, const char* text, std::size_t bytes) {
  *message = new TRITONSERVER_Message{std::string(text, bytes)};
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message, const char** text, std::size_t* bytes) {
  *text = message->json.data(), *bytes = message->json.size();
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  delete message;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(std::uint32_t* major, std::uint32_t* minor) {
  *major = 1, *minor = 10;   // the oldest that is served; this server still has what was added later
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend* backend, TRITONSERVER_Message** message) {
  static thread_local TRITONSERVER_Message own;
  own.json = as<FakeBackend>(backend).config;
  *message = &own;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend* b, void** state) {
  return *state = as<FakeBackend>(b).state, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend* b, void* state) {
  return as<FakeBackend>(b).state = state, nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* m, const char** name) {
  return *name = as<FakeModel>(m).name.c_str(), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model*, std::uint64_t* version) { return *version = 1, nullptr; }
TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* m, TRITONBACKEND_ArtifactType* type, const char** location) {
  return *type = kTritonFilesystem, *location = as<FakeModel>(m).location.c_str(), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* m, std::uint32_t, TRITONSERVER_Message** message) {
  const FakeModel& model = as<FakeModel>(m);
  return *message = new TRITONSERVER_Message{model.completed.empty() ? model.config : model.completed}, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* m, std::uint32_t, TRITONSERVER_Message* message) {
  return as<FakeModel>(m).completed = message->json, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* m, bool* complete) {
  return *complete = as<FakeModel>(m).complete, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* m, TRITONBACKEND_Backend** backend) {
  return *backend = reinterpret_cast<TRITONBACKEND_Backend*>(as<FakeModel>(m).backend), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* m, void** state) { return *state = as<FakeModel>(m).state, nullptr; }
TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* m, void* state) { return as<FakeModel>(m).state = state, nullptr; }

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(TRITONBACKEND_ModelInstance* i, const char** name) {
  return *name = as<FakeInstance>(i).name.c_str(), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance* i, TRITONSERVER_InstanceGroupKind* kind) {
  return *kind = as<FakeInstance>(i).kind, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(TRITONBACKEND_ModelInstance* i, std::int32_t* device) {
  return *device = as<FakeInstance>(i).device, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceHostPolicy(TRITONBACKEND_ModelInstance*, TRITONSERVER_Message** message) {
  static TRITONSERVER_Message own{R"({"cpu":{}})"};
  return *message = &own, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* i, TRITONBACKEND_Model** model) {
  return *model = reinterpret_cast<TRITONBACKEND_Model*>(as<FakeInstance>(i).model), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* i, void** state) {
  return *state = as<FakeInstance>(i).state, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* i, void* state) {
  return as<FakeInstance>(i).state = state, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request* r, bool success,
                                                               std::uint64_t start, std::uint64_t compute_start,
                                                               std::uint64_t compute_end, std::uint64_t end) {
  FakeRequest& request = as<FakeRequest>(r);
  ++request.reports, request.success = success, request.times = {start, compute_start, compute_end, end};
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(TRITONBACKEND_ModelInstance* i, std::uint64_t rows,
                                                                    std::uint64_t start, std::uint64_t compute_start,
                                                                    std::uint64_t compute_end, std::uint64_t end) {
  as<FakeInstance>(i).batches.push_back({rows, {start, compute_start, compute_end, end}});
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* r, bool* cancelled) {
  return *cancelled = as<FakeRequest>(r).cancelled, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* r, std::uint32_t* count) {
  return *count = static_cast<std::uint32_t>(as<FakeRequest>(r).inputs.size()), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* r, std::uint32_t index, TRITONBACKEND_Input** input) {
  return *input = reinterpret_cast<TRITONBACKEND_Input*>(&as<FakeRequest>(r).inputs.at(index)), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* r, std::uint32_t* count) {
  return *count = static_cast<std::uint32_t>(as<FakeRequest>(r).outputs.size()), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* r, std::uint32_t index, const char** name) {
  return *name = as<FakeRequest>(r).outputs.at(index).c_str(), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* r, std::uint32_t) {
  return ++as<FakeRequest>(r).releases, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(TRITONBACKEND_Input* i, const char*, const char** name,
                                                              TRITONSERVER_DataType* type, const std::int64_t** shape,
                                                              std::uint32_t* rank, std::uint64_t* bytes, std::uint32_t* buffers) {
  const FakeInput& input = as<FakeInput>(i);
  *name = input.name.c_str(), *type = input.type, *shape = input.shape.data();
  *rank = static_cast<std::uint32_t>(input.shape.size()), *buffers = static_cast<std::uint32_t>(input.buffers.size()), *bytes = 0;
  for (const std::string& buffer : input.buffers) *bytes += buffer.size();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(TRITONBACKEND_Input* i, const char*, std::uint32_t index, const void** buffer,
                                                          std::uint64_t* bytes, TRITONSERVER_MemoryType* memory, std::int64_t* id) {
  const std::string& own = as<FakeInput>(i).buffers.at(index);
  return *buffer = own.data(), *bytes = own.size(), *memory = kTritonCpu, *id = 0, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response, TRITONBACKEND_Request* r) {
  return *response = reinterpret_cast<TRITONBACKEND_Response*>(new FakeResponse{&as<FakeRequest>(r)}), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response, TRITONBACKEND_Output** output, const char* name,
                                                TRITONSERVER_DataType type, const std::int64_t* shape, std::uint32_t rank) {
  FakeRequest& request = *as<FakeResponse>(response).request;
  if (request.refuses_outputs) return internal("no memory for outputs");
  auto& made = request.answer[name];
  if (made) return internal("an output is made twice");
  made = std::make_unique<FakeOutput>(FakeOutput{name, type, {shape, shape + rank}, ""});
  return *output = reinterpret_cast<TRITONBACKEND_Output*>(made.get()), nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* o, void** buffer, std::uint64_t bytes, TRITONSERVER_MemoryType* type,
                                              std::int64_t*) {
  FakeOutput& output = as<FakeOutput>(o);
  output.bytes.assign(bytes, '\x7f');
  return *buffer = output.bytes.data(), *type = kTritonCpu, nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* r, std::uint32_t, TRITONSERVER_Error* error) {
  const std::unique_ptr<FakeResponse> response(&as<FakeResponse>(r));
  FakeRequest& request = *response->request;
  request.responded_after_release |= request.releases > 0;
  ++request.responses;
  if (error) request.error = error->code, request.message = error->message;
  return nullptr;
}

}  // extern "C"
