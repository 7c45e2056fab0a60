# The libraries that users link, and their installation: tenfold loads and runs plans, tenfold-builder makes them, tenfold-text makes ids
# and vectors of text, by engines that it builds, tenfold-imaging runs engines over large images. Each is static (Tenfold::runtime,
# Tenfold::builder, Tenfold::text, Tenfold::imaging) and shared (Tenfold::runtime_shared and so on), of the same objects of the folders it
# consists of; find_package(Tenfold) and pkg-config know all.
include(CMakePackageConfigHelpers)
option(TENFOLD_SHARED "Make the shared libraries, too" ${TENFOLD_SHARED_BY_DEFAULT})

function(tenfold_package name)
  cmake_parse_arguments(ARG "" "OUTPUT" "FOLDERS;EXTRA;LIBRARIES" ${ARGN})
  set(objects ${ARG_EXTRA})
  foreach(folder IN LISTS ARG_FOLDERS)
    list(APPEND objects $<TARGET_OBJECTS:tenfold_${folder}>)
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/tenfold-${name}.cpp
    CONTENT "// All of tenfold-${name} comes from the folders' objects.\n")
  set(forms tenfold-${name})
  add_library(tenfold-${name} STATIC ${CMAKE_BINARY_DIR}/generated/tenfold-${name}.cpp ${objects})
  if(TENFOLD_SHARED)
    list(APPEND forms tenfold-${name}_shared)
    set(map ${CMAKE_BINARY_DIR}/generated/${ARG_OUTPUT}.map)
    add_library(tenfold-${name}_shared SHARED ${CMAKE_BINARY_DIR}/generated/tenfold-${name}.cpp ${objects})
    add_dependencies(tenfold-${name}_shared tenfold-exports)
    target_link_options(tenfold-${name}_shared PRIVATE -Wl,--version-script=${map} -Wl,-z,defs)
    if(TENFOLD_SANITIZE)
      target_link_options(tenfold-${name}_shared PRIVATE -fsanitize=${TENFOLD_SANITIZE})
    endif()
    set_target_properties(tenfold-${name}_shared PROPERTIES SOVERSION 0 VERSION ${PROJECT_VERSION} LINK_DEPENDS ${map}
      INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON)
  endif()
  foreach(target IN LISTS forms)
    string(REPLACE tenfold- "" export ${target})
    add_library(Tenfold::${export} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${export} LINKER_LANGUAGE CXX OUTPUT_NAME ${ARG_OUTPUT})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    install(TARGETS ${target} EXPORT tenfold-${export}-targets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${ARG_OUTPUT} NAMELINK_COMPONENT development)
    install(EXPORT tenfold-${export}-targets NAMESPACE Tenfold::
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenfold COMPONENT development)
  endforeach()
endfunction()

# The isolated kernels are objects that a folder's archive takes in as files, which TARGET_OBJECTS leaves out.
get_target_property(kernels tenfold_backends SOURCES)
list(FILTER kernels INCLUDE REGEX "\\.o$")
set_source_files_properties(${kernels} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
tenfold_package(runtime OUTPUT tenfold
  FOLDERS base image_decoders ir ops backends memory plan runtime api_run low_latency device_pool c_run EXTRA ${kernels})
tenfold_package(builder OUTPUT tenfold-builder
  FOLDERS onnx_ops onnx_import onnx_export quant passes tune builder api_build onnx_suite background served_model queue layers c_build)
tenfold_package(text OUTPUT tenfold-text FOLDERS text served_encoder c_text)
tenfold_package(imaging OUTPUT tenfold-imaging FOLDERS windows parts device sweep c_imaging)
target_link_libraries(tenfold-runtime PUBLIC Threads::Threads)
target_link_libraries(tenfold-builder PUBLIC tenfold-runtime)
target_link_libraries(tenfold-text PUBLIC tenfold-builder)
target_link_libraries(tenfold-imaging PUBLIC tenfold-runtime)
add_dependencies(tenfold-runtime tenfold_backends)
if(TENFOLD_SHARED)
  # Which symbols each shared library exports is read from the objects.
  set(maps)
  foreach(output tenfold tenfold-builder tenfold-text tenfold-imaging)
    list(APPEND maps ${CMAKE_BINARY_DIR}/generated/${output}.map)
  endforeach()
  add_custom_command(OUTPUT ${maps}
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/exports ${CMAKE_READELF} ${PROJECT_VERSION} $<TARGET_FILE:tenfold-runtime>
      $<TARGET_FILE:tenfold-builder> $<TARGET_FILE:tenfold-text> $<TARGET_FILE:tenfold-imaging> ${CMAKE_BINARY_DIR}/generated
    DEPENDS tenfold-runtime tenfold-builder tenfold-text tenfold-imaging ${CMAKE_CURRENT_LIST_DIR}/exports VERBATIM
    COMMENT "Listing what the shared libraries export")
  add_custom_target(tenfold-exports DEPENDS ${maps})
  target_link_libraries(tenfold-runtime_shared PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  target_link_libraries(tenfold-builder_shared PUBLIC tenfold-runtime_shared)
  target_link_libraries(tenfold-text_shared PUBLIC tenfold-builder_shared)
  target_link_libraries(tenfold-imaging_shared PUBLIC tenfold-runtime_shared)
endif()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tenfold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  PATTERN internal EXCLUDE)   # what the program shares with the libraries
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/NOTICE ${CMAKE_SOURCE_DIR}/THIRD-PARTY-NOTICES.txt
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT share)

set(package ${CMAKE_BINARY_DIR}/package)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TenfoldConfig.cmake.in ${package}/TenfoldConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenfold)
write_basic_package_version_file(${package}/TenfoldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package}/TenfoldConfig.cmake ${package}/TenfoldConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenfold COMPONENT development)
file(RELATIVE_PATH TENFOLD_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)   # so that an installed tree can be moved
set(pcs tenfold-runtime-static tenfold-static tenfold-text-static tenfold-imaging-static)
if(TENFOLD_SHARED)
  list(APPEND pcs tenfold-runtime tenfold tenfold-text tenfold-imaging)
endif()
foreach(pc IN LISTS pcs)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${pc}.pc.in ${package}/${pc}.pc @ONLY)
  install(FILES ${package}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
