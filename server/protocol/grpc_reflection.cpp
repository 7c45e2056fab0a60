// Both versions have the same messages but for the package.
#include "protocol/grpc_reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>

#include "reflection.pb.h"
#include "reflection_v1alpha.pb.h"

namespace tenfold::server::grpc {
namespace {

namespace v1 = ::grpc::reflection::v1;
namespace v1alpha = ::grpc::reflection::v1alpha;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;

// The file and those that it imports, each once, the file first.
void add_files(const FileDescriptor* file, std::set<std::string>& seen, auto& response) {
  if (!seen.insert(file->name()).second) return;
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  response.add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file->dependency_count(); ++i) add_files(file->dependency(i), seen, response);
}

template <class Request, class Response>
class Reflection final : public RequestStream {
 public:
  Reflection(std::shared_ptr<Call> call, const std::set<std::string>& services) : call_(std::move(call)), services_(services) {}

  void on_message(Message message) override {
    Request request;
    if (!request.ParseFromString(message.bytes))
      return call_->finish({StatusCode::internal, "the request is not a ServerReflectionRequest"});
    Response response;
    response.set_valid_host(request.host());
    *response.mutable_original_request() = request;
    answer(request, response);
    call_->send(response.SerializeAsString());
  }
  void on_end() override { call_->finish({}); }

 private:
  void answer(const Request& request, Response& response) const {
    const DescriptorPool& pool = *DescriptorPool::generated_pool();
    switch (request.message_request_case()) {
      case Request::kListServices:
        for (const std::string& name : services_) response.mutable_list_services_response()->add_service()->set_name(name);
        return;
      case Request::kFileByFilename: return file(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(), response);
      case Request::kFileContainingSymbol:
        return file(pool.FindFileContainingSymbol(request.file_containing_symbol()), request.file_containing_symbol(), response);
      case Request::kAllExtensionNumbersOfType:
        if (pool.FindMessageTypeByName(request.all_extension_numbers_of_type())) {
          response.mutable_all_extension_numbers_response()->set_base_type_name(request.all_extension_numbers_of_type());
          return;  // there are no extensions
        }
        return error(StatusCode::not_found, "no type '" + request.all_extension_numbers_of_type() + "'", response);
      case Request::kFileContainingExtension: return error(StatusCode::not_found, "no file has extensions", response);
      default: return error(StatusCode::invalid_argument, "the request has no field of message_request", response);
    }
  }
  static void file(const FileDescriptor* file, const std::string& name, Response& response) {
    if (!file) return error(StatusCode::not_found, "no file or symbol '" + name + "'", response);
    std::set<std::string> seen;
    add_files(file, seen, *response.mutable_file_descriptor_response());
  }
  static void error(StatusCode code, const std::string& message, Response& response) {
    response.mutable_error_response()->set_error_code(static_cast<int>(code));
    response.mutable_error_response()->set_error_message(message);
  }

  const std::shared_ptr<Call> call_;
  const std::set<std::string>& services_;
};

}  // namespace

void add_reflection(Services& services) {
  const std::string v1_name = "grpc.reflection.v1.ServerReflection", v1alpha_name = "grpc.reflection.v1alpha.ServerReflection";
  auto names = std::make_shared<std::set<std::string>>(std::set<std::string>{v1_name, v1alpha_name});
  for (const auto& [path, method] : services) names->insert(path.substr(1, path.rfind('/') - 1));
  services["/" + v1_name + "/ServerReflectionInfo"] = {.stream = [names](std::shared_ptr<Call> call) {
    return std::make_unique<Reflection<v1::ServerReflectionRequest, v1::ServerReflectionResponse>>(std::move(call), *names);
  }};
  services["/" + v1alpha_name + "/ServerReflectionInfo"] = {.stream = [names](std::shared_ptr<Call> call) {
    return std::make_unique<Reflection<v1alpha::ServerReflectionRequest, v1alpha::ServerReflectionResponse>>(std::move(call), *names);
  }};
}

}  // namespace tenfold::server::grpc
