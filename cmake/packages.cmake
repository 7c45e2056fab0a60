# The two libraries that users link, and their installation: Tenfold::runtime loads and runs plans, Tenfold::builder makes them.
# Each is one archive of the objects of the folders it consists of; find_package(Tenfold) and pkg-config know both.
include(CMakePackageConfigHelpers)

function(tenfold_package name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;LIBRARIES" ${ARGN})
  set(target tenfold-${name})
  set(objects "")
  foreach(folder IN LISTS ARG_FOLDERS)
    if(TARGET tenfold_${folder})
      list(APPEND objects $<TARGET_OBJECTS:tenfold_${folder}>)
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${target}.cpp CONTENT "// All of ${target} comes from the folders' objects.\n")
  add_library(${target} STATIC ${CMAKE_BINARY_DIR}/generated/${target}.cpp ${objects})
  add_library(Tenfold::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} ${ARG_LIBRARIES})
  install(TARGETS ${target} EXPORT tenfold-${name}-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name})
  install(EXPORT tenfold-${name}-targets NAMESPACE Tenfold:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenfold COMPONENT ${name})
endfunction()

tenfold_package(runtime FOLDERS base ir ops backends memory plan runtime LIBRARIES PUBLIC Threads::Threads)
# The isolated kernels are objects that a folder's archive takes in as files, which TARGET_OBJECTS leaves out.
get_target_property(sources tenfold_backends SOURCES)
list(FILTER sources INCLUDE REGEX "\\.o$")
target_sources(tenfold-runtime PRIVATE ${sources})
set_source_files_properties(${sources} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
add_dependencies(tenfold-runtime tenfold_backends)

find_package(Protobuf REQUIRED)
tenfold_package(builder FOLDERS onnx_import passes quant tune builder api LIBRARIES PUBLIC tenfold-runtime PRIVATE protobuf::libprotobuf)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tenfold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

set(package ${CMAKE_BINARY_DIR}/package)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TenfoldConfig.cmake.in ${package}/TenfoldConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenfold)
write_basic_package_version_file(${package}/TenfoldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package}/TenfoldConfig.cmake ${package}/TenfoldConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenfold COMPONENT runtime)
file(RELATIVE_PATH TENFOLD_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)   # so that an installed tree can be moved
foreach(pc tenfold-runtime tenfold)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${pc}.pc.in ${package}/${pc}.pc @ONLY)
  install(FILES ${package}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
endforeach()
