# Debian packages of what this folder builds: `cpack -G DEB` after the targets tenfold-packaged and tenfold-linked-programs; script/packages
# does it. Libraries, and programs that use them, are packages of their own. What is opened at run time is recommended, not needed.
set(deploy ${CMAKE_SOURCE_DIR}/deploy/debian)
set(generated ${CMAKE_BINARY_DIR}/package/debian)
file(READ ${CMAKE_SOURCE_DIR}/THIRD-PARTY-NOTICES.txt notices)
string(REPLACE "\r" "" notices "${notices}")
string(REGEX REPLACE "\n\n+" "\n.\n" notices "${notices}")   # paragraphs of a field
string(REGEX REPLACE "\n" "\n " notices "\n${notices}")
file(READ ${deploy}/copyright.head head)
string(STRIP "${head}" head)
string(REGEX REPLACE "[ \n]+$" "" notices "${notices}")
file(CONFIGURE OUTPUT ${generated}/copyright CONTENT "@head@@notices@\n" @ONLY)
configure_file(${deploy}/changelog ${generated}/changelog COPYONLY)
execute_process(COMMAND gzip -n9f ${generated}/changelog COMMAND_ERROR_IS_FATAL ANY)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tenfold)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")   # each package has its own
set(CPACK_PACKAGE_VENDOR "The Tenfold authors")
set(CPACK_PACKAGE_CONTACT "The Tenfold authors <maintainers@tenfold.example.org>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_TENFOLD_BUILD ${CMAKE_BINARY_DIR})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/deb_files.cmake)
set(CPACK_COMPONENTS_ALL "")

# tenfold_deb(package COMPONENT name SECTION s SUMMARY text ABOUT text [DEPENDS d] [RECOMMENDS r] [CONFFILES file] [PARTS component...])
function(tenfold_deb package)
  cmake_parse_arguments(ARG "" "COMPONENT;SECTION;SUMMARY;ABOUT;DEPENDS;RECOMMENDS;CONFFILES" "PARTS" ${ARGN})
  install(FILES ${generated}/copyright ${generated}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
    COMPONENT ${ARG_COMPONENT} EXCLUDE_FROM_ALL)
  set(group ${ARG_COMPONENT})
  list(APPEND CPACK_COMPONENTS_ALL ${ARG_COMPONENT} ${ARG_PARTS})
  foreach(part IN LISTS ARG_PARTS)   # components that one package holds are a group
    set(group group-${package})
    string(TOUPPER ${part} upper)
    set(CPACK_COMPONENT_${upper}_GROUP ${group} PARENT_SCOPE)
    string(TOUPPER ${ARG_COMPONENT} upper)
    set(CPACK_COMPONENT_${upper}_GROUP ${group} PARENT_SCOPE)
  endforeach()
  string(TOUPPER ${group} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${ARG_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${ARG_SUMMARY}\n${ARG_ABOUT}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARG_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${ARG_RECOMMENDS}" PARENT_SCOPE)
  set(scripts "")
  foreach(script postinst prerm postrm)
    if(package STREQUAL "tenfold" AND NOT TENFOLD_TRTEXEC)   # whose scripts make and remove that name
      break()
    endif()
    if(EXISTS ${deploy}/${package}.${script})
      configure_file(${deploy}/${package}.${script} ${generated}/${package}/${script} COPYONLY)
      list(APPEND scripts ${generated}/${package}/${script})
    endif()
  endforeach()
  if(package MATCHES "^lib.*0$")
    file(WRITE ${generated}/${package}/triggers "activate-noawait ldconfig\n")
    list(APPEND scripts ${generated}/${package}/triggers)
  endif()
  if(ARG_CONFFILES)
    file(WRITE ${generated}/${package}/conffiles "${ARG_CONFFILES}\n")
    list(APPEND scripts ${generated}/${package}/conffiles)
  endif()
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${scripts}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
endfunction()

set(same "(= ${PROJECT_VERSION})")
tenfold_deb(libtenfold0 COMPONENT tenfold SECTION libs SUMMARY "neural network inference engine (runtime)"
  ABOUT "Loads plans of trained neural networks and runs them on\nx86 CPUs and NVIDIA GPUs." RECOMMENDS "libdnnl2")
tenfold_deb(libtenfold-builder0 COMPONENT tenfold-builder SECTION libs SUMMARY "neural network inference engine (builder)"
  ABOUT "Reads ONNX models, optimizes them for the machine, times kernels\nand makes plans." DEPENDS "libtenfold0 ${same}")
tenfold_deb(libtenfold-text0 COMPONENT tenfold-text SECTION libs SUMMARY "neural network inference engine (text)"
  ABOUT "Tokenizers, and encoders that make vectors of text." DEPENDS "libtenfold-builder0 ${same}" RECOMMENDS "libpcre2-8-0")
tenfold_deb(libtenfold-imaging0 COMPONENT tenfold-imaging SECTION libs SUMMARY "neural network inference engine (imaging)"
  ABOUT "Sliding windows over pictures and volumes of any size." DEPENDS "libtenfold0 ${same}")
tenfold_deb(libtenfold-dev COMPONENT development SECTION libdevel SUMMARY "neural network inference engine (development)"
  ABOUT "Headers, static libraries, and files for CMake and pkg-config."
  DEPENDS "libtenfold-text0 ${same}, libtenfold-imaging0 ${same}")
tenfold_deb(tenfold COMPONENT linked PARTS share SECTION science SUMMARY "neural network inference engine (command line)"
  ABOUT "Builds, runs, times, inspects and compares models:\ntenfold exec takes the flags of trtexec."
  DEPENDS "libtenfold-text0 ${same}" RECOMMENDS "libjpeg62-turbo, libpng16-16, libpcre2-8-0")
install(DIRECTORY ${CMAKE_BINARY_DIR}/package/python/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/python3/dist-packages
  COMPONENT python-deb EXCLUDE_FROM_ALL OPTIONAL USE_SOURCE_PERMISSIONS)   # script/packages takes it out of the wheel
tenfold_deb(python3-tenfold COMPONENT python-deb SECTION python SUMMARY "neural network inference engine (Python)"
  ABOUT "The package tenfold for Python, with the backend for torch.compile."
  DEPENDS "tenfold ${same}, libtenfold-imaging0 ${same}, python3 (>= 3.11), python3 (<< 3.12), python3-numpy")
if(TARGET triton_tenfold)
  tenfold_deb(tenfold-triton-backend COMPONENT triton SECTION science SUMMARY "neural network inference engine (Triton backend)"
    ABOUT "libtriton_tenfold.so for a Triton Inference Server:\nits --backend-directory is /usr/lib/tenfold/triton.")
endif()
if(TARGET tenfold-server)
  tenfold_deb(tenfold-server COMPONENT server SECTION net SUMMARY "neural network inference engine (server)"
    ABOUT "Serves models over HTTP and gRPC to clients of Triton, KServe\nand OpenAI." CONFFILES /etc/tenfold/server.conf
    DEPENDS "libtenfold-text0 ${same}, tenfold ${same}")   # tenfold builds models in a process of its own
endif()
# What packages have of a build, beside the programs linked for them; `all` has tests, too.
add_custom_target(tenfold-packaged)
foreach(target tenfold-nvrtc tenfold-manual triton_tenfold tenfold-runtime tenfold-builder tenfold-text tenfold-imaging
        tenfold-runtime_shared tenfold-builder_shared tenfold-text_shared tenfold-imaging_shared)
  if(TARGET ${target})
    add_dependencies(tenfold-packaged ${target})
  endif()
endforeach()
include(CPack)
