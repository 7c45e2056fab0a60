#include "routes/shared_memory_routes.h"

#include <simdjson.h>

#include "core/shared_memory.h"
#include "observe/json_writer.h"
#include "protocol/json_text.h"

namespace tenfold::server {
namespace {

namespace dom = simdjson::dom;

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

std::uint64_t number(const dom::object& object, const char* name, bool required) {
  std::uint64_t value = 0;
  const simdjson::error_code error = object[name].get(value);
  if (error == simdjson::NO_SUCH_FIELD && !required) return 0;
  if (error == simdjson::NO_SUCH_FIELD) refuse("Shared memory register request has no '" + std::string(name) + "' field");
  if (error != simdjson::SUCCESS) refuse("'" + std::string(name) + "' of the shared memory register request is no integer of 0 or more");
  return value;
}

HttpResponse registered(const RoutedRequest& request, SharedMemory& memory) {
  dom::parser parser;
  dom::object object;
  const std::string body(request.exchange->request().text());
  if (parser.parse(body).get(object) != simdjson::SUCCESS) refuse("failed to parse the request JSON buffer: expected an object");
  std::string_view key;
  const simdjson::error_code error = object["key"].get(key);
  if (error == simdjson::NO_SUCH_FIELD) refuse("Shared memory register request has no 'key' field");
  if (error != simdjson::SUCCESS) refuse("'key' of the shared memory register request is no string");
  memory.add(request.at("region"), std::string(key), number(object, "offset", false), number(object, "byte_size", true));
  return {200, {}, {}};
}

HttpResponse listed(const SharedMemory& memory, const std::string& name) {
  JsonList json;
  for (const auto& region : memory.list(name))
    json.add(JsonObject()
                 .add("name", region->name())
                 .add("key", region->key())
                 .add("offset", region->offset())
                 .add("byte_size", region->bytes()));
  return json_response(json.text());
}

void add_system_routes(RouteFamily& v2, const std::shared_ptr<Models>& models) {
  const std::string all = "/v2/systemsharedmemory", one = all + "/region/{region}";
  for (const std::string& base : {all, one}) {
    v2.get(base + "/status", [models](const RoutedRequest& request) { return listed(*models->shared_memory(), request.get("region")); });
    v2.add("POST", base + "/unregister", [models](const RoutedRequest& request) {
      models->shared_memory()->remove(request.get("region"));
      request.exchange->respond({200, {}, {}});
    });
  }
  v2.add("POST", one + "/register",
         [models](const RoutedRequest& request) { request.exchange->respond(registered(request, *models->shared_memory())); });
}

}  // namespace

void add_shared_memory_routes(Router& router, const std::shared_ptr<Models>& models) {
  RouteFamily v2 = router.family(error_response);
  add_system_routes(v2, models);
  // Clients list and unregister all memory before they begin, of GPUs, too.
  const std::string cuda = "/v2/cudasharedmemory";
  for (const std::string& base : {cuda, cuda + "/region/{region}"}) {
    v2.get(base + "/status", [](const RoutedRequest&) { return json_response("[]"); });
    v2.add("POST", base + "/unregister", [](const RoutedRequest& request) { request.exchange->respond({200, {}, {}}); });
  }
  v2.refuse(cuda, std::string(kNoCudaSharedMemory));
}

}  // namespace tenfold::server
