# tenfold_unity(list name): sources of `list` are put together in batches, each compiled as one file.
#
# Half of what a file of this tree takes to compile is what every file reads anew; a batch reads it once. What a file has in its unnamed
# namespace stays its own: a batch has a copy in which that namespace lies in another one (unity_3), where the functions outside look, too.
# #line leads errors and debuggers to the file itself. A file of another form (macros, two unnamed namespaces) or with flags of its own is
# compiled alone.
#
# Run as a script (cmake -P) it writes the batch OUT of FILES, whose paths are relative to FROM.
set(TENFOLD_UNITY_SIZE 8)         # files of a batch, at most,
set(TENFOLD_UNITY_BYTES 60000)    # and about so much text

# The file as part `number` of a batch; empty where it has another form.
function(tenfold_unity_part result file line_file number)
  file(READ ${file} text)
  set(${result} "" PARENT_SCOPE)
  string(REGEX MATCHALL "\nnamespace {\n" opened "${text}")
  list(LENGTH opened count)
  string(FIND "${text}" "\nnamespace {\n" opens)
  string(FIND "${text}" "\n}  // namespace\n" closes)
  if(count GREATER 1 OR text MATCHES "\n#(define|undef|pragma|if)" OR (count EQUAL 1 AND closes LESS opens))
    return()
  endif()
  if(count EQUAL 1)
    math(EXPR length "${closes} - ${opens}")
    string(SUBSTRING "${text}" 0 ${opens} before)
    string(SUBSTRING "${text}" ${opens} ${length} inside)
    string(SUBSTRING "${text}" ${closes} -1 outside)
    # What stands outside and needs the unnamed namespace in front of a function's body keeps the file alone: members of a constructor's
    # list, constants, templates, another namespace (or all of one), types of its own in a head.
    if(outside MATCHES "\\)( noexcept)?[ \n]+: [a-z_]+[({]" OR
       outside MATCHES "\n(namespace|const|constexpr|static|inline|template|thread_local|extern)[ <]")
      return()
    endif()
    # Functions begin at the left margin.
    set(head "\n[A-Za-z_][^;={}]*\\)( const| noexcept)*( -> [^;={}]*)? {")
    string(REGEX MATCHALL "${head}" heads "${outside}")
    # Names that a using-directive brings in are not known in heads, which are plain ones then: "Tactic cpu_conv_direct() {".
    if(inside MATCHES "\nusing namespace ")
      string(REGEX MATCHALL "\n[A-Z][A-Za-z]+ [a-z_0-9]+\\(\\) {" plain "${outside}")
      if(NOT "${plain}" STREQUAL "${heads}")
        return()
      endif()
    endif()
    string(REGEX MATCHALL "\n((struct|class|enum class|enum) [A-Za-z_0-9]+|using [A-Za-z_0-9]+ =)" types "${inside}")
    foreach(type IN LISTS types)
      string(REGEX REPLACE "( =|.*(struct|class|enum|using) )" "" type "${type}")
      if(heads MATCHES "[^A-Za-z_0-9]${type}[^A-Za-z_0-9]")
        return()
      endif()
    endforeach()
    # using-declarations that a head needs stand in front as well.
    string(REGEX MATCHALL "\nusing [a-z_][A-Za-z_0-9]*::[A-Za-z_0-9:]+" declared "${inside}")
    set(used "")
    foreach(declaration IN LISTS declared)
      string(REGEX REPLACE ".*::" "" type "${declaration}")
      if(heads MATCHES "[^A-Za-z_0-9]${type}[^A-Za-z_0-9]")
        string(REPLACE "\n" "" declaration "${declaration}")
        string(APPEND used "${declaration}; ")
      endif()
    endforeach()
    string(REGEX REPLACE "^\nnamespace {\n" "\n${used}namespace unity_${number} { namespace {\n" inside "${inside}")
    string(REGEX REPLACE "^\n}  // namespace\n" "\n} }\n" outside "${outside}")
    string(REGEX REPLACE "(${head})" "\\1 using namespace unity_${number};" outside "${outside}")
    set(text "${before}${inside}${outside}")
  endif()
  set(${result} "#line 1 \"${line_file}\"\n${text}\n" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(content "// Written by cmake/unity.cmake; do not edit.\n")
  set(number 0)
  foreach(file IN LISTS FILES)
    math(EXPR number "${number} + 1")
    file(RELATIVE_PATH line_file ${FROM} ${file})
    tenfold_unity_part(part ${file} ${line_file} ${number})
    if(NOT part)
      message(FATAL_ERROR "${file} has got a form that no batch takes (macros, or two unnamed namespaces): run cmake again")
    endif()
    string(APPEND content "${part}")
  endforeach()
  file(WRITE ${OUT} "${content}")
  return()
endif()

option(TENFOLD_UNITY "Compile lists of small files in batches (OFF: a file each, for clangd and for narrow rebuilds)" ON)

# Adds the batch `files` to `list_name`.
function(tenfold_unity_batch list_name out files)
  add_custom_command(OUTPUT ${out} DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/unity.cmake VERBATIM COMMENT ""
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFROM=${CMAKE_BINARY_DIR} "-DFILES=${files}" -P ${CMAKE_SOURCE_DIR}/cmake/unity.cmake)
  set(${list_name} ${${list_name}} ${out} PARENT_SCOPE)
endfunction()

function(tenfold_unity list_name name)
  if(NOT TENFOLD_UNITY)
    return()
  endif()
  set(unity_left "")
  set(batch "")
  set(bytes 0)
  set(number 1)
  foreach(file IN LISTS ${list_name})
    get_source_file_property(flags ${file} COMPILE_OPTIONS)
    get_source_file_property(definitions ${file} COMPILE_DEFINITIONS)
    get_source_file_property(alone ${file} SKIP_UNITY_BUILD_INCLUSION)
    set(part "")
    if(NOT flags AND NOT definitions AND NOT alone AND file MATCHES "\\.cpp$" AND EXISTS ${file} AND
       NOT file MATCHES "^${CMAKE_BINARY_DIR}/")
      tenfold_unity_part(part ${file} "" 1)
    endif()
    if(NOT part)
      list(APPEND unity_left ${file})
      continue()
    endif()
    list(APPEND batch ${file})
    string(LENGTH "${part}" length)
    math(EXPR bytes "${bytes} + ${length}")
    list(LENGTH batch count)
    if(count EQUAL TENFOLD_UNITY_SIZE OR bytes GREATER TENFOLD_UNITY_BYTES)
      tenfold_unity_batch(unity_left ${CMAKE_BINARY_DIR}/generated/unity/${name}_${number}.cpp "${batch}")
      math(EXPR number "${number} + 1")
      set(batch "")
      set(bytes 0)
    endif()
  endforeach()
  if(batch)
    tenfold_unity_batch(unity_left ${CMAKE_BINARY_DIR}/generated/unity/${name}_${number}.cpp "${batch}")
  endif()
  # A target without dependencies has them, too: else no batch would be written before the libraries below are there.
  set(batches ${unity_left})
  list(FILTER batches INCLUDE REGEX "^${CMAKE_BINARY_DIR}/generated/unity/")
  add_custom_target(${name}_unity DEPENDS ${batches})
  set(${list_name} ${unity_left} PARENT_SCOPE)
endfunction()
