# tenfold_program(name COMPONENT component [ARCHIVES target...] [LIBRARIES library...] [PORTABLE library...]): installs a program, which has
# the libraries in itself, so that one file is all to copy. For packages, which have the libraries as files, NAME-shared is the same objects
# linked with those, in the component; build/.../linked has it. For the archive that any distribution can unpack (component portable),
# NAME-portable takes PORTABLE in place of LIBRARIES, where that is given. ARCHIVES: what of this tree no library has. LIBRARIES: others'
# that it calls.
add_custom_target(tenfold-linked-programs)
add_custom_target(tenfold-portable-programs)

# NAME-SUFFIX of the same objects, with the shared libraries, in the folder FOLDER of the build, installed with COMPONENT.
function(tenfold_linked_program name suffix)
  cmake_parse_arguments(ARG "" "FOLDER;COMPONENT;RPATH" "ARCHIVES;LIBRARIES" ${ARGN})
  set(target ${name}-${suffix})
  add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}>)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${name} BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "${ARG_RPATH}" RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${ARG_FOLDER})
  foreach(archive IN LISTS ARG_ARCHIVES)
    target_link_libraries(${target} PRIVATE $<TARGET_FILE:${archive}>)
    add_dependencies(${target} ${archive})
  endforeach()
  target_link_libraries(${target} PRIVATE tenfold_options tenfold-text_shared tenfold-builder_shared tenfold-runtime_shared
    ${ARG_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS})
  add_dependencies(tenfold-${ARG_FOLDER}-programs ${target})
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${ARG_COMPONENT} EXCLUDE_FROM_ALL)
endfunction()

function(tenfold_program name)
  cmake_parse_arguments(ARG "" "COMPONENT" "ARCHIVES;LIBRARIES;PORTABLE" ${ARGN})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
  if(NOT TENFOLD_SHARED)
    return()
  endif()
  tenfold_linked_program(${name} shared FOLDER linked COMPONENT ${ARG_COMPONENT} ARCHIVES ${ARG_ARCHIVES} LIBRARIES ${ARG_LIBRARIES}
    RPATH "$ORIGIN/..:$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  if(DEFINED ARG_PORTABLE)
    tenfold_linked_program(${name} portable FOLDER portable COMPONENT portable ARCHIVES ${ARG_ARCHIVES} LIBRARIES ${ARG_PORTABLE}
      RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}:$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/tenfold")
  else()
    tenfold_linked_program(${name} portable FOLDER portable COMPONENT portable ARCHIVES ${ARG_ARCHIVES} LIBRARIES ${ARG_LIBRARIES}
      RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
endfunction()
