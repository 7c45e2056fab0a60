// The part of Triton's C API for backends that this one calls, declared here: names, types and numbers are facts of that API.
//
// All functions are of API 1.10 or older, so that one library serves old and new Tritons. newer_api.h looks up the rest.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct TRITONSERVER_Error;
struct TRITONSERVER_Message;
struct TRITONBACKEND_Backend;
struct TRITONBACKEND_Model;
struct TRITONBACKEND_ModelInstance;
struct TRITONBACKEND_Request;
struct TRITONBACKEND_Input;
struct TRITONBACKEND_Response;
struct TRITONBACKEND_Output;

enum TRITONSERVER_DataType : int {
  kTritonInvalid, kTritonBool, kTritonUint8, kTritonUint16, kTritonUint32, kTritonUint64, kTritonInt8, kTritonInt16,
  kTritonInt32, kTritonInt64, kTritonFp16, kTritonFp32, kTritonFp64, kTritonBytes, kTritonBf16
};
enum TRITONSERVER_MemoryType : int { kTritonCpu, kTritonCpuPinned, kTritonGpu };
enum TRITONSERVER_InstanceGroupKind : int { kTritonKindAuto, kTritonKindCpu, kTritonKindGpu, kTritonKindModel };
enum TRITONSERVER_LogLevel : int { kTritonInfo, kTritonWarn, kTritonError, kTritonVerbose };
enum TRITONSERVER_Error_Code : int {
  kTritonUnknown, kTritonInternal, kTritonNotFound, kTritonInvalidArg, kTritonUnavailable, kTritonUnsupported,
  kTritonAlreadyExists, kTritonCancelled   // the last since API 1.15
};
enum TRITONBACKEND_ArtifactType : int { kTritonFilesystem };
constexpr std::uint32_t kTritonReleaseAll = 1, kTritonResponseFinal = 1;

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code, const char* message);
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error*);
const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error*);
TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel, const char* file, int line, const char* message);
bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel);
TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message**, const char* text, std::size_t bytes);
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message*, const char** text, std::size_t* bytes);
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message*);

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(std::uint32_t* major, std::uint32_t* minor);
TRITONSERVER_Error* TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend*, TRITONSERVER_Message**);
TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend*, void** state);
TRITONSERVER_Error* TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend*, void* state);

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model*, const char** name);
TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model*, std::uint64_t* version);
TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model*, TRITONBACKEND_ArtifactType*, const char** location);
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model*, std::uint32_t config_version, TRITONSERVER_Message**);
TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model*, std::uint32_t config_version, TRITONSERVER_Message*);
TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model*, bool* complete);
TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model*, TRITONBACKEND_Backend**);
TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model*, void** state);
TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model*, void* state);

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(TRITONBACKEND_ModelInstance*, const char** name);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance*, TRITONSERVER_InstanceGroupKind*);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(TRITONBACKEND_ModelInstance*, std::int32_t* device);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceHostPolicy(TRITONBACKEND_ModelInstance*, TRITONSERVER_Message**);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Model**);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance*, void** state);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance*, void* state);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request*, bool success,
                                                               std::uint64_t start_ns, std::uint64_t compute_start_ns,
                                                               std::uint64_t compute_end_ns, std::uint64_t end_ns);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(TRITONBACKEND_ModelInstance*, std::uint64_t rows,
                                                                    std::uint64_t start_ns, std::uint64_t compute_start_ns,
                                                                    std::uint64_t compute_end_ns, std::uint64_t end_ns);

TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request*, std::uint32_t* count);
TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request*, std::uint32_t index, TRITONBACKEND_Input**);
TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request*, std::uint32_t* count);
TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request*, std::uint32_t index, const char** name);
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request*, std::uint32_t flags);
TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(TRITONBACKEND_Input*, const char* policy, const char** name,
                                                              TRITONSERVER_DataType*, const std::int64_t** shape, std::uint32_t* rank,
                                                              std::uint64_t* bytes, std::uint32_t* buffers);
TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(TRITONBACKEND_Input*, const char* policy, std::uint32_t index,
                                                          const void** buffer, std::uint64_t* bytes, TRITONSERVER_MemoryType*,
                                                          std::int64_t* memory_id);
TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response**, TRITONBACKEND_Request*);
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response*, TRITONBACKEND_Output**, const char* name,
                                                TRITONSERVER_DataType, const std::int64_t* shape, std::uint32_t rank);
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response*, std::uint32_t flags, TRITONSERVER_Error*);
TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output*, void** buffer, std::uint64_t bytes, TRITONSERVER_MemoryType*,
                                              std::int64_t* memory_id);

}  // extern "C"
