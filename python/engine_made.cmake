# The engine that the package holds, as this build makes it.
if(NOT TENFOLD_SHARED)
  message(FATAL_ERROR "the Python package needs the shared libraries: TENFOLD_SHARED=ON")
endif()
# The command line a second time, of the same objects and those of formats, against the shared libraries.
add_executable(tenfold_program $<TARGET_OBJECTS:tenfold> $<TARGET_OBJECTS:tenfold_formats>)
target_link_libraries(tenfold_program PRIVATE tenfold_options tenfold-text_shared tenfold-builder_shared tenfold-runtime_shared)
set_target_properties(tenfold_program PROPERTIES OUTPUT_NAME tenfold RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/bin
  LINKER_LANGUAGE CXX BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")

function(tenfold_engine_file file depends path)
  set(target_libtenfold.so.0 tenfold-runtime_shared)
  set(target_libtenfold-builder.so.0 tenfold-builder_shared)
  set(target_libtenfold-text.so.0 tenfold-text_shared)
  set(target_libtenfold-imaging.so.0 tenfold-imaging_shared)
  set(target_bin/tenfold tenfold_program)
  set(target_bin/tenfold-nvrtc tenfold-nvrtc)
  set(${depends} ${target_${file}} PARENT_SCOPE)
  set(${path} $<TARGET_FILE:${target_${file}}> PARENT_SCOPE)
endfunction()
