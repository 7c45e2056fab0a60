# tenfold_program(name COMPONENT component [ARCHIVES target...] [LIBRARIES library...]): installs a program, which has the libraries in
# itself, so that one file is all to copy. For packages, which have the libraries as files, NAME-shared is the same objects linked with
# those, in the component; build/.../linked has it. ARCHIVES: what of this tree no library has. LIBRARIES: others' that it calls.
add_custom_target(tenfold-linked-programs)
function(tenfold_program name)
  cmake_parse_arguments(ARG "" "COMPONENT" "ARCHIVES;LIBRARIES" ${ARGN})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
  if(NOT TENFOLD_SHARED)
    return()
  endif()
  add_executable(${name}-shared EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}>)
  set_target_properties(${name}-shared PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${name} BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN/..:$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/linked)
  foreach(archive IN LISTS ARG_ARCHIVES)
    target_link_libraries(${name}-shared PRIVATE $<TARGET_FILE:${archive}>)
    add_dependencies(${name}-shared ${archive})
  endforeach()
  target_link_libraries(${name}-shared PRIVATE tenfold_options tenfold-text_shared tenfold-builder_shared tenfold-runtime_shared
    ${ARG_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS})
  add_dependencies(tenfold-linked-programs ${name}-shared)
  install(TARGETS ${name}-shared RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${ARG_COMPONENT}
    EXCLUDE_FROM_ALL)
endfunction()
