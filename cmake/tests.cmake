# One test binary per folder: unit tests stand beside their sources as <file>_test.cpp; tests/ holds what crosses folders.
find_package(GTest REQUIRED)
include(GoogleTest)

# Only sources that name the checkout's folders get them, so that ccache serves all others from any checkout.
function(tenfold_tell_folders)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} uses REGEX "TENFOLD_(SOURCE|BINARY)_DIR" LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
        TENFOLD_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TENFOLD_BINARY_DIR="${CMAKE_BINARY_DIR}")
    endif()
  endforeach()
endfunction()

function(tenfold_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  tenfold_tell_folders(${ARG_SOURCES})
  tenfold_unity(ARG_SOURCES ${name})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_USES} GTest::gtest_main)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)   # what takes time is in the libraries; a third less to compile
  if(name STREQUAL "base_test")
    target_precompile_headers(${name} PRIVATE <gtest/gtest.h> ${CMAKE_SOURCE_DIR}/cmake/precompiled.h)
  else()
    target_precompile_headers(${name} REUSE_FROM base_test)   # one for all of them
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # ASan and TSan kill a program that asks for too much memory, unless told to answer as an allocator does: tests ask for that.
  # LLVM 14 guesses where thread-local variables of loaded libraries end. In one run of a hundred the leak checker read past that and died.
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200 ENVIRONMENT
    "TENFOLD_CHECK_TYPES=1;ASAN_OPTIONS=allocator_may_return_null=1:intercept_tls_get_addr=0;TSAN_OPTIONS=allocator_may_return_null=1")
endfunction()

get_property(folders GLOBAL PROPERTY TENFOLD_FOLDERS)
foreach(folder IN LISTS folders)
  get_property(root GLOBAL PROPERTY TENFOLD_FOLDER_${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/*_test.cpp)
  set(uses tenfold_${folder})
  if(folder STREQUAL "passes" OR folder STREQUAL "runtime")
    set(uses tenfold_builder)
  elseif(folder MATCHES "^(c_run|low_latency|api_build|layers|background)$")
    list(APPEND uses tenfold_c_build)   # tests ask from C, too
  elseif(folder MATCHES "^c_(imaging|text)$")
    list(APPEND uses tenfold_c_build)   # likewise, from C
  elseif(folder STREQUAL "sweep")
    list(APPEND uses tenfold_api_build)   # tests build the engines that they run
  endif()
  tenfold_test(${folder}_test SOURCES ${sources} USES ${uses})
endforeach()
# What `tenfold report` computes by itself.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/report/*_test.cpp)
list(TRANSFORM sources REPLACE "_test\\.cpp$" ".cpp" OUTPUT_VARIABLE tested)
tenfold_test(cli_report_test SOURCES ${sources} ${tested} USES tenfold_api_run)
target_include_directories(cli_report_test PRIVATE ${CMAKE_SOURCE_DIR}/cli)
# The backend for Triton, in a server that is none: the test program has the functions that the library looks for.
if(TENFOLD_TRITON)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/triton_backend/*_test.cpp ${CMAKE_SOURCE_DIR}/triton_backend/*_for_tests.cpp)
  find_package(nlohmann_json REQUIRED)
  tenfold_test(triton_backend_test SOURCES ${sources} USES tenfold_onnx_import tenfold_text nlohmann_json::nlohmann_json)
  target_include_directories(triton_backend_test PRIVATE ${CMAKE_SOURCE_DIR}/triton_backend)
  target_compile_definitions(triton_backend_test PRIVATE TENFOLD_TRITON_BACKEND="$<TARGET_FILE:triton_tenfold>")
  set_target_properties(triton_backend_test PROPERTIES ENABLE_EXPORTS ON)
  add_dependencies(triton_backend_test triton_tenfold)
endif()
# What people see of the server, without one.
if(TARGET tenfold-server)
  find_package(simdjson REQUIRED)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/observe/*.cpp ${CMAKE_SOURCE_DIR}/server/routes/metrics*.cpp)
  list(FILTER sources EXCLUDE REGEX "ui_page|metrics_route")
  tenfold_test(server_observe_test SOURCES ${sources} USES tenfold_queue tenfold_low_latency simdjson::simdjson)
  target_include_directories(server_observe_test PRIVATE ${CMAKE_SOURCE_DIR}/server)
endif()
# gRPC of the server: its parts here, and below by clients of Python.
if(TARGET tenfold_grpc_services)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/grpc/*_test.cpp)
  tenfold_test(grpc_frames_test SOURCES ${sources} USES tenfold_grpc tenfold_ir)
endif()
# Rules of configurations and of folders of models.
if(TARGET tenfold_config_messages)
  set(server ${CMAKE_SOURCE_DIR}/server)
  find_package(simdjson REQUIRED)
  tenfold_test(server_config_test USES tenfold_config_messages tenfold_queue simdjson::simdjson SOURCES
    ${server}/config/config_test.cpp ${server}/config/config_text.cpp ${server}/config/field_rules.cpp ${server}/config/scheduling.cpp
    ${server}/core/reshape.cpp ${server}/protocol/config_json.cpp ${server}/protocol/json_text.cpp ${server}/observe/json_string.cpp
    ${server}/core/datatype.cpp ${server}/repository/layout.cpp)
  target_include_directories(server_config_test PRIVATE ${server})
endif()
# What of the server needs neither models nor sockets.
if(TARGET tenfold_server_security)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/net/*_test.cpp ${CMAKE_SOURCE_DIR}/server/security/*_test.cpp
    ${CMAKE_SOURCE_DIR}/server/process/machine_limits*.cpp)
  tenfold_test(server_parts_test SOURCES ${sources} USES tenfold_server_security tenfold_ir)
endif()
foreach(test background_test c_build_test)   # builds run in a process of the program
  target_compile_definitions(${test} PRIVATE TENFOLD_PROGRAM="$<TARGET_FILE:tenfold>")
  add_dependencies(${test} tenfold)
endforeach()
target_compile_definitions(backends_test PRIVATE TENFOLD_HELPER="$<TARGET_FILE:tenfold-nvrtc>")
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/backends/cuda/tactics/gemm/block_scaled_kernels_test.cpp
  PROPERTIES COMPILE_OPTIONS -Wno-unknown-pragmas)   # CUDA C
# The C interface is tried by a C file.
enable_language(C)
add_library(c_api_use OBJECT ${CMAKE_SOURCE_DIR}/src/interfaces/c/build/api_use.c ${CMAKE_SOURCE_DIR}/src/interfaces/c/build/runtime_use.c)
set_target_properties(c_api_use PROPERTIES C_STANDARD 99)
target_include_directories(c_api_use PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(c_build_test PRIVATE c_api_use)
add_library(c_imaging_use OBJECT ${CMAKE_SOURCE_DIR}/src/interfaces/c/imaging/imaging_use.c)
set_target_properties(c_imaging_use PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_include_directories(c_imaging_use PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(c_imaging_test PRIVATE c_imaging_use)
add_library(c_text_use OBJECT ${CMAKE_SOURCE_DIR}/src/interfaces/c/text/text_use.c
            ${CMAKE_SOURCE_DIR}/src/interfaces/c/text/quantize_decoder_use.c)
set_target_properties(c_text_use PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_include_directories(c_text_use PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(c_text_test PRIVATE c_text_use)

# tests/: each <name>_test.cpp is a test binary, each <name>_main.cpp a tool; everything else is shared by them.
file(GLOB support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*.cpp)
list(FILTER support EXCLUDE REGEX "_(test|main)\\.cpp$")
add_library(tenfold_test_support STATIC ${support})
target_include_directories(tenfold_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(tenfold_test_support PRIVATE TENFOLD_VERSION="${PROJECT_VERSION}")   # as the precompiled header has it
tenfold_tell_folders(${support})
target_link_libraries(tenfold_test_support PUBLIC tenfold_onnx_suite tenfold_builder tenfold_onnx_import)
target_precompile_headers(tenfold_test_support REUSE_FROM tenfold_ir)
file(GLOB tools CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*_main.cpp)
foreach(source IN LISTS tools)
  get_filename_component(stem ${source} NAME_WE)
  string(REGEX REPLACE "_main$" "" tool ${stem})
  add_executable(${tool} ${source})
  target_link_libraries(${tool} PRIVATE tenfold_test_support)
endforeach()
target_link_libraries(tokenize PRIVATE tenfold_text)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*_test.cpp)
foreach(source IN LISTS sources)
  get_filename_component(stem ${source} NAME_WE)
  tenfold_test(${stem} SOURCES ${source} USES tenfold_builder tenfold_test_support)
endforeach()
target_link_libraries(gpu_imaging_test PRIVATE tenfold_sweep)

# Libraries of plug-ins as others build them: the example in C, one that is wrong in many ways, and one by clang with libc++ where that
# is installed.
foreach(plugin snake=examples/plugin.c hostile=tests/plugins/hostile.c)
  string(REGEX MATCH "^([a-z]+)=(.*)$" matched ${plugin})
  add_library(plugin_${CMAKE_MATCH_1} MODULE ${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_2})
  set_target_properties(plugin_${CMAKE_MATCH_1} PROPERTIES PREFIX "" OUTPUT_NAME ${CMAKE_MATCH_1} C_STANDARD 99)
  target_include_directories(plugin_${CMAKE_MATCH_1} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(plugin_${CMAKE_MATCH_1} PRIVATE m)
  target_compile_definitions(plugin_library_test PRIVATE
    TENFOLD_PLUGIN_$<UPPER_CASE:${CMAKE_MATCH_1}>="$<TARGET_FILE:plugin_${CMAKE_MATCH_1}>")
  add_dependencies(plugin_library_test plugin_${CMAKE_MATCH_1})
endforeach()
find_program(TENFOLD_CLANG clang++)
set(libcxx "")
if(TENFOLD_CLANG)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/libcxx_probe.cpp "#include <span>\n")
  execute_process(COMMAND ${TENFOLD_CLANG} -std=c++20 -stdlib=libc++ -fsyntax-only ${CMAKE_BINARY_DIR}/generated/libcxx_probe.cpp
                  RESULT_VARIABLE no_libcxx OUTPUT_QUIET ERROR_QUIET)
  if(no_libcxx EQUAL 0)
    set(libcxx ${CMAKE_BINARY_DIR}/libcxx.so)
    set(source ${CMAKE_SOURCE_DIR}/tests/plugins/libcxx.cpp)
    file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/tenfold/*.h)
    add_custom_command(OUTPUT ${libcxx} DEPENDS ${source} ${headers} VERBATIM
      COMMAND ${TENFOLD_CLANG} -std=c++20 -stdlib=libc++ -O1 -Wall -Wextra -Werror -shared -fPIC -I${CMAKE_SOURCE_DIR}/include ${source}
              -o ${libcxx})
    add_custom_target(plugin_libcxx DEPENDS ${libcxx})
    add_dependencies(plugin_library_test plugin_libcxx)
  endif()
endif()
target_compile_definitions(background_test PRIVATE TENFOLD_PLUGIN_SNAKE="$<TARGET_FILE:plugin_snake>")
add_dependencies(background_test plugin_snake)
target_compile_definitions(plugin_library_test PRIVATE TENFOLD_PLUGIN_LIBCXX="${libcxx}"
  TENFOLD_PLUGIN_TEXT="${CMAKE_SOURCE_DIR}/README.md" TENFOLD_PLUGIN_STRANGER="$<TARGET_FILE:nvtx_listener>")
add_dependencies(plugin_library_test nvtx_listener)
target_link_libraries(fake_gpu_test PRIVATE tenfold_api_run)
target_link_libraries(replaced_files_test PRIVATE tenfold_api_run)
target_link_libraries(low_latency_devices_test PRIVATE tenfold_low_latency)
target_link_libraries(decoder_step_test PRIVATE tenfold_text)
target_link_libraries(encoder_devices_test PRIVATE tenfold_text)
target_link_libraries(served_fallback_test PRIVATE tenfold_queue)
target_link_libraries(plugin_abi_test PRIVATE tenfold_c_build)
target_link_libraries(plugin_library_test PRIVATE tenfold_c_build)

# What a profiler would hear (tests/nvtx_listener.c says how); command-line tests and tools/gpu_cli.py load it.
add_library(nvtx_listener MODULE ${CMAKE_SOURCE_DIR}/tests/nvtx_listener.c)
set_target_properties(nvtx_listener PROPERTIES PREFIX "" C_STANDARD 99)

# A management library of GPUs that are none.
add_library(fake_nvml MODULE ${CMAKE_SOURCE_DIR}/tests/fake_nvml.c)
set_target_properties(fake_nvml PROPERTIES PREFIX "" OUTPUT_NAME libnvidia-ml SUFFIX .so.1 C_STANDARD 99
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_nvml)

# A driver that ends the process when it is used: beside it tests on the fake driver do as they do without.
add_library(other_driver MODULE ${CMAKE_SOURCE_DIR}/tests/other_driver.c)
set_target_properties(other_driver PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1 C_STANDARD 99
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/other_driver)
foreach(test plugin_devices_test fake_gpu_test gpu_runtime_test gpu_capture_test gpu_copies_test gpu_graphs_test encoder_devices_test
             served_fallback_test low_latency_devices_test)
  add_test(NAME ${test}_beside_a_driver COMMAND ${test})
  set_tests_properties(${test}_beside_a_driver PROPERTIES TIMEOUT 1200
    ENVIRONMENT "TENFOLD_CHECK_TYPES=1;LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/other_driver")
  add_dependencies(${test} other_driver)
endforeach()

# The recipes of CONTRIBUTING.md, each with its one file: these tables stand in for the libraries' own when the test is linked.
set(recipes ${CMAKE_SOURCE_DIR}/tests/recipes)
foreach(recipe "ops op OpDef ir/op_def.h tenfold::ir builtin_ops" "onnx_ops onnx OnnxOp onnx_ops/table.h tenfold::onnx_ops all_onnx_ops"
               "tactics cpu Tactic backends/tactic.h tenfold::backends cpu_tactics"
               "rules pass Pass passes/pass.h tenfold::passes all_passes")
  separate_arguments(recipe)
  list(POP_FRONT recipe folder)
  list(GET recipe -1 function)
  get_property(files GLOBAL PROPERTY ${function})
  file(GLOB_RECURSE own CONFIGURE_DEPENDS ${recipes}/${folder}/*.cpp)
  tenfold_registry(${CMAKE_BINARY_DIR}/generated/recipes_${folder}.cpp ${recipe} ${files} ${own})
  set_property(GLOBAL PROPERTY ${function} "${files}")
  list(APPEND recipe_sources ${own} ${CMAKE_BINARY_DIR}/generated/recipes_${folder}.cpp)
endforeach()
tenfold_test(recipes_test SOURCES ${recipes}/recipes_test.cpp ${recipe_sources} USES tenfold_builder)

# The recipe for an option of a build: the row that CONTRIBUTING.md shows, at the end of a copy of the table of fields, and what reads it.
file(READ ${CMAKE_SOURCE_DIR}/CONTRIBUTING.md recipe)
string(REGEX MATCH "\n// [^\n]*\nTF_FIELD\\(int, smallest_product[^\n]*\n[^\n]*\n" row "${recipe}")
file(READ ${CMAKE_SOURCE_DIR}/include/tenfold/build_fields.h table)
string(REPLACE "\n#undef TF_FIELD\n" "${row}\n#undef TF_FIELD\n" table "${table}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/recipe_field/tenfold/build_fields.h CONTENT "@table@" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/CONTRIBUTING.md
  ${CMAKE_SOURCE_DIR}/include/tenfold/build_fields.h)
add_library(recipe_field OBJECT ${recipes}/fields/new_field.cpp ${CMAKE_SOURCE_DIR}/src/interfaces/c/build/build.cpp
  ${CMAKE_SOURCE_DIR}/cli/engines/exec_options.cpp)
target_include_directories(recipe_field BEFORE PRIVATE ${CMAKE_BINARY_DIR}/generated/recipe_field)
target_include_directories(recipe_field PRIVATE ${CMAKE_SOURCE_DIR}/cli ${CMAKE_SOURCE_DIR}/include ${TENFOLD_GROUPS})
target_compile_options(recipe_field PRIVATE -O0)

# The installed package, used by a project of its own; the examples of README.md.
string(REPLACE "," " -fsanitize=" sanitize "${TENFOLD_SANITIZE}")
string(REGEX REPLACE "^(.+)$" "-fsanitize=\\1" sanitize "${sanitize}")
add_test(NAME install_test COMMAND ${CMAKE_SOURCE_DIR}/tests/install/run ${CMAKE_BINARY_DIR} "${sanitize}")
add_test(NAME readme_test COMMAND ${CMAKE_SOURCE_DIR}/tests/readme/run ${CMAKE_BINARY_DIR} "${sanitize}")

# What a user would try, from Python: NumPy, onnx and ONNX Runtime are the independent truth, from script/bootstrap's environment if it
# is there.
find_program(TENFOLD_PYTHON3 NAMES python3 HINTS ${CMAKE_SOURCE_DIR}/build/venv/bin NO_CACHE)
if(TENFOLD_PYTHON3)
  add_test(NAME python_page_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tools/python_table.py --check)
  add_test(NAME left_out_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/left_out_test.py)
  add_test(NAME notices_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/notices_test.py)
  add_test(NAME fusions_page_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tools/write_fusions.py --check)
  add_test(NAME links_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/links_test.py)
  add_test(NAME page_names_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/page_names_test.py)
  add_test(NAME performance_page_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/performance_page_test.py)
  add_test(NAME gpu_page_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/gpu_page_test.py)
  foreach(name cli_test cli_outputs_test cli_flags_test cli_cache_test cli_doctor_test cli_terminal_test trtexec_flags_test
               cli_notes_test cli_sweep_test cli_check_test cli_arrays_test cli_manual_test cli_formats_test cli_onnx_suite_test
               convert_test bad_input_test saving_test plugins_cli_test accuracy_test calibration_test
               budget_test images_test labels_test quantize_test quantize_files_test quantize_types_test quantize_decoders_test
               python_data_test compare_data_test
               text_data_test modelopt_files_test embed_test generate_test evaluate_test packages_test serve_test serve_refusals_test
               serve_batches_test
               serve_flags_test repository_test model_config_test net_security_test net_faults_test observe_test traces_test logs_test
               supervisor_test next_worker_test shutdown_test service_manager_test serve_loads_test schedule_test openapi_test
               pattern_engine_test shared_memory_test text_routes_test text_limits_test text_int8_test text_scores_test latency_test
               recurrent_test report_test)
    add_test(NAME ${name} COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/${name}.py $<TARGET_FILE:tenfold>)
    set_tests_properties(${name} PROPERTIES TIMEOUT 1200 SKIP_RETURN_CODE 77
      ENVIRONMENT "TENFOLD_NVTX_LISTENER=$<TARGET_FILE:nvtx_listener>;TENFOLD_PLUGIN_SNAKE=$<TARGET_FILE:plugin_snake>;\
TENFOLD_FAKE_NVML=${CMAKE_BINARY_DIR}/fake_nvml")
  endforeach()
  if(TARGET tenfold-server)
    add_test(NAME deploy_files_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/deploy/check_files.py ${CMAKE_BINARY_DIR})
    set_tests_properties(deploy_files_test PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
    add_test(NAME deploy_faults_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/deploy_faults_test.py $<TARGET_FILE:tenfold>)
    set_tests_properties(deploy_faults_test PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON)
  endif()
  # The files of deploy/: script/deploy-check has the rest of their checks.
  foreach(name deploy_yaml_test deploy_server_test)
    add_test(NAME ${name} COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/deploy/${name}.py $<TARGET_FILE:tenfold>)
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  endforeach()
  set_tests_properties(deploy_server_test PROPERTIES RUN_SERIAL ON)
  # Which time what they see.
  set_tests_properties(serve_batches_test net_faults_test repository_test observe_test traces_test supervisor_test next_worker_test
    shutdown_test service_manager_test serve_loads_test schedule_test text_limits_test PROPERTIES RUN_SERIAL ON)
  if(TARGET serve_load AND TARGET tenfold-server)
    add_test(NAME serve_check_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/serve_check.py ${CMAKE_BINARY_DIR} --short)
    set_tests_properties(serve_check_test PROPERTIES TIMEOUT 900 RUN_SERIAL ON)
  endif()
  add_test(NAME tokenizer_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/tokenizer_test.py $<TARGET_FILE:tokenize>)
  set_tests_properties(tokenizer_test PROPERTIES TIMEOUT 1200 SKIP_RETURN_CODE 77)
  add_test(NAME speech_detector_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/speech_detector_test.py
    $<TARGET_FILE:speech_detector>)
  set_tests_properties(speech_detector_test PROPERTIES TIMEOUT 1200 SKIP_RETURN_CODE 77)
  add_test(NAME c_names_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/c_names_test.py ${CMAKE_SOURCE_DIR}/include/tenfold)
  if(TENFOLD_SHARED)
    add_test(NAME exports_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/exports_test.py ${CMAKE_SOURCE_DIR}/include/tenfold
      $<TARGET_FILE:tenfold-runtime_shared> $<TARGET_FILE:tenfold-builder_shared> $<TARGET_FILE:tenfold-text_shared>
      $<TARGET_FILE:tenfold-imaging_shared>)
    add_test(NAME ctypes_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/ctypes_test.py $<TARGET_FILE:tenfold-runtime_shared>
      $<TARGET_FILE:tenfold-builder_shared>)
    set_tests_properties(ctypes_test PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME c_nulls_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/c_nulls_test.py ${CMAKE_SOURCE_DIR}/include/tenfold
      $<TARGET_FILE:tenfold-runtime_shared> $<TARGET_FILE:tenfold-builder_shared> $<TARGET_FILE:tenfold-imaging_shared>
      $<TARGET_FILE:tenfold-text_shared>)
    set_tests_properties(c_nulls_test PROPERTIES TIMEOUT 1200)
    add_test(NAME ctypes_min_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tests/ctypes_min_test.py
      $<TARGET_FILE:tenfold-builder_shared>)
  endif()
  # Clients need another protobuf than onnx: `script/bootstrap clients` makes an environment for them.
  find_program(TENFOLD_CLIENTS_PYTHON NAMES python3 PATHS ${CMAKE_SOURCE_DIR}/build/clients/bin NO_DEFAULT_PATH NO_CACHE)
  if(NOT TENFOLD_CLIENTS_PYTHON)
    set(TENFOLD_CLIENTS_PYTHON ${TENFOLD_PYTHON3})
  endif()
  foreach(name serve_clients_test text_clients_test schemathesis_test)
    add_test(NAME ${name} COMMAND ${TENFOLD_CLIENTS_PYTHON} ${CMAKE_SOURCE_DIR}/tests/${name}.py $<TARGET_FILE:tenfold>)
  endforeach()
  set_tests_properties(serve_clients_test text_clients_test schemathesis_test PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
  if(TARGET grpc_trial)
    add_test(NAME grpc_transport_test COMMAND ${TENFOLD_CLIENTS_PYTHON} ${CMAKE_SOURCE_DIR}/tests/grpc_transport_test.py
      $<TARGET_FILE:grpc_trial>)
    add_test(NAME grpc_inference_test COMMAND ${TENFOLD_CLIENTS_PYTHON} ${CMAKE_SOURCE_DIR}/tests/grpc_inference_test.py
      $<TARGET_FILE:tenfold-server>)
    add_test(NAME grpc_clients_test COMMAND ${TENFOLD_CLIENTS_PYTHON} ${CMAKE_SOURCE_DIR}/tests/grpc_clients_test.py
      $<TARGET_FILE:grpc_trial>)
    foreach(name observe_grpc_test repository_grpc_test)
      add_test(NAME ${name} COMMAND ${TENFOLD_CLIENTS_PYTHON} ${CMAKE_SOURCE_DIR}/tests/${name}.py $<TARGET_FILE:tenfold-server>)
    endforeach()
    set_tests_properties(grpc_transport_test grpc_clients_test grpc_inference_test observe_grpc_test repository_grpc_test PROPERTIES
      TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON)
  endif()
  add_test(NAME docs_test COMMAND ${TENFOLD_PYTHON3} ${CMAKE_SOURCE_DIR}/tools/write_docs.py --check $<TARGET_FILE:tenfold>)
endif()

# What takes longest starts first, so that it does not run alone at the end.
set_tests_properties(backends_test PROPERTIES COST 600)
foreach(name build_time_test optimized_suite_test random_graph_test onnx_suite_test)
  set_tests_properties(${name} PROPERTIES COST 100)
endforeach()
