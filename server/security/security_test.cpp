#include "security/security.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "net/http_path.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

Api of_path(const std::string& target) { return api_of_path(*path_parts(target)); }

TEST(Api, OfPaths) {
  EXPECT_EQ(of_path("/v2"), Api::metadata);
  EXPECT_EQ(of_path("/v2/health/ready"), Api::health);
  EXPECT_EQ(of_path("/v2/models/m"), Api::metadata);
  EXPECT_EQ(of_path("/v2/models/m/versions/3/ready"), Api::health);
  EXPECT_EQ(of_path("/v2/models/m/config"), Api::model_config);
  EXPECT_EQ(of_path("/v2/models/stats"), Api::statistics);
  EXPECT_EQ(of_path("/v2/models/m/versions/3/stats"), Api::statistics);
  EXPECT_EQ(of_path("/v2/models/m/infer"), Api::inference);
  EXPECT_EQ(of_path("/v2/models/ready/infer"), Api::inference);
  EXPECT_EQ(of_path("/v2/models/m/infer/ready"), Api::inference);
  EXPECT_EQ(of_path("/v2/repository/index"), Api::model_repository);
  EXPECT_EQ(of_path("/v2/rep%6fsitory/models/m/load?x=/v2/health"), Api::model_repository);
  EXPECT_EQ(of_path("/v2/systemsharedmemory/status"), Api::shared_memory);
  EXPECT_EQ(of_path("/metrics/"), Api::metrics);
  EXPECT_EQ(of_path("/metrics/x"), Api::inference);
  EXPECT_EQ(of_path("/v1/embeddings"), Api::inference);
  EXPECT_EQ(of_path("/"), Api::inference);
  EXPECT_EQ(of_path("/something"), Api::inference);
}

TEST(Api, OfMethods) {
  const std::string service = "/inference.GRPCInferenceService/";
  EXPECT_EQ(api_of_method(service + "ModelInfer"), Api::inference);
  EXPECT_EQ(api_of_method(service + "ServerLive"), Api::health);
  EXPECT_EQ(api_of_method("/grpc.health.v1.Health/Watch"), Api::health);
  EXPECT_EQ(api_of_method(service + "RepositoryIndex"), Api::model_repository);
  EXPECT_EQ(api_of_method("/unknown.Service/What"), Api::inference);
  EXPECT_TRUE(is_model_control(service + "RepositoryModelLoad"));
  EXPECT_FALSE(is_model_control(service + "RepositoryIndex"));
}

TEST(ApiKeys, ComparesWholeKeys) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "abcabc", "abca"}) EXPECT_FALSE(same_secret(other, "abc")) << other;
}

class KeyFile : public testing::Test {
 protected:
  KeyFile() : path_(testing::TempDir() + "keys_" + std::to_string(::getpid())) {}
  ~KeyFile() override { std::remove(path_.c_str()); }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  std::string path_;
};

TEST_F(KeyFile, IsReadAgain) {
  write("# comment\n\n first-key \r\nsecond");
  ApiKeys keys(path_);
  for (const char* good : {"Bearer first-key", "bearer second", "BEARER  second "}) EXPECT_TRUE(keys.accept(good)) << good;
  for (const char* bad : {"", "Bearer", "Bearer ", "first-key", "Basic first-key", "Bearer first-ke", "Bearer # comment"})
    EXPECT_FALSE(keys.accept(bad)) << bad;
  write("third\n");
  keys.reload();
  EXPECT_TRUE(keys.accept("Bearer third"));
  EXPECT_FALSE(keys.accept("Bearer second"));
  write("");
  EXPECT_THROW(keys.reload(), Error);
  EXPECT_TRUE(keys.accept("Bearer third"));       // it stays as it was
  write("secret with space\n");
  try {
    keys.reload();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << "a key is in the message";
  }
}

TEST(Restrictions, AsTriton) {
  const Restrictions some("http-restricted-api", {"inference,shm-memory:Key=a=b,c:d", "health:other=x"});
  ASSERT_TRUE(some.of(Api::inference));
  EXPECT_EQ(*some.of(Api::inference), std::pair(std::string("key"), std::string("a=b,c:d")));
  EXPECT_EQ(some.of(Api::shared_memory)->first, "key");
  EXPECT_EQ(some.of(Api::health)->first, "other");
  EXPECT_FALSE(some.of(Api::metadata));
  for (const std::string bad : {"", "inference", "key=value", "inference:key", "inference:key=", "inference:=value", "nothing:key=value"})
    EXPECT_THROW(Restrictions("http-restricted-api", {bad}), Error) << bad;
  EXPECT_THROW(Restrictions("http-restricted-api", {"health:a=b", "health:c=d"}), Error);
}

class Admitted : public KeyFile {
 protected:
  static int status(const Security& security, const std::string& target, const std::string& header = "", const std::string& value = "",
                    bool from_this_machine = false) {
    HttpRequest head;
    head.method = "POST", head.target = target;
    if (!header.empty()) head.headers.emplace_back(header, value);
    const auto refused = security.admit_http(head, from_this_machine);
    return refused ? refused->status : 200;
  }
};

TEST_F(Admitted, WithoutAnythingAllButControlFromElsewhere) {
  const Security security{SecurityOptions{}};
  EXPECT_EQ(status(security, "/v2/models/m/infer"), 200);
  EXPECT_EQ(status(security, "/v2/repository/index"), 200);
  EXPECT_EQ(status(security, "/v2/repository/models/m/load"), 403);
  EXPECT_EQ(status(security, "/v2/repository/models/m/load", "", "", true), 200);
  EXPECT_TRUE(security.admit_grpc("/inference.GRPCInferenceService/RepositoryModelUnload", [](auto) { return ""; }, false));
  EXPECT_FALSE(security.admit_grpc("/inference.GRPCInferenceService/RepositoryModelUnload", [](auto) { return ""; }, true));
}

TEST_F(Admitted, ByKey) {
  write("k\n");
  SecurityOptions options;
  options.api_key_file = path_;
  const Security security(options);
  EXPECT_EQ(status(security, "/v2/models/m/infer", "", "", true), 401);
  EXPECT_EQ(status(security, "/v2/models/m/infer", "authorization", "Bearer k"), 200);
  EXPECT_EQ(status(security, "/v2/repository/models/m/load", "authorization", "Bearer k"), 200);
  EXPECT_EQ(status(security, "/v2/health/live"), 200);
  EXPECT_EQ(status(security, "/metrics"), 200);
  EXPECT_EQ(status(security, "nonsense%"), 401);
}

TEST_F(Admitted, ByRestriction) {
  SecurityOptions options;
  options.http_restricted = {"health,model-repository:admin=secret"};
  options.grpc_restricted = {"inference:admin=secret"};
  const Security security(options);
  EXPECT_EQ(status(security, "/v2/health/live"), 403);
  EXPECT_EQ(status(security, "/v2/health/live", "admin", "secre"), 403);
  EXPECT_EQ(status(security, "/v2/health/live", "admin", "secret"), 200);
  EXPECT_EQ(status(security, "/v2/repository/models/m/load", "admin", "secret"), 200);
  EXPECT_EQ(status(security, "/v2/models/m/infer"), 200);
  const std::string infer = "/inference.GRPCInferenceService/ModelInfer";
  EXPECT_TRUE(security.admit_grpc(infer, [](auto) { return ""; }, true));
  EXPECT_FALSE(security.admit_grpc(infer, [](auto name) { return name == "triton-grpc-protocol-admin" ? "secret" : ""; }, true));
}

}  // namespace
}  // namespace tenfold::server
