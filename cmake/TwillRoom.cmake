# One folder, one namespace, one target: the functions every CMakeLists.txt of Twill is written in.
#
#   twill_room(solve SOURCES search.cpp engine.cpp USES schedule LINKS fmt::fmt)
#       src/twill/solve becomes the static library twill_solve (alias twill::solve).
#       Sources that run long in a room that is twill_hardly_optimized: OPTIMIZED instead of SOURCES.
#   twill_program(twill SOURCES main.cpp USES cli)
#       an executable, placed at the top of the build folder.
#   twill_test(solve_search SOURCES search_test.cpp USES solve LINKS rapidcheck)
#       a part of the GoogleTest program twill_tests_FOLDER; every TEST in it is one ctest entry "FOLDER.Suite.Case".
#   twill_long_test(run.sweep SECONDS 200)
#       a test that takes minutes, and is begun early.
#
# USES names rooms, in any order of definition; LINKS names any other CMake targets. SOURCES may lie in subfolders.

include(GoogleTest)

option(TWILL_UNITS "Compile a room's sources together, two dozen at a time: much faster to build from nothing" OFF)
set(TWILL_UNIT_SIZE 25)  # with 12, a build from nothing takes a fifth longer; with more, one file of a room takes 20 s
set(TWILL_LEAST_SPARED 8)  # a file more costs a build from nothing two to four seconds

# ccache, where installed, is shared by all checkouts: no absolute path reaches a compile line or the cache's keys.
find_program(TWILL_CCACHE ccache DOC "Keeps compiled objects between builds")
mark_as_advanced(TWILL_CCACHE)
if(TWILL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    ${TWILL_CCACHE})
endif()

add_library(twill_settings INTERFACE)
target_compile_features(twill_settings INTERFACE cxx_std_20)
target_compile_options(twill_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wdouble-promotion -Wcast-align -Wcast-qual -Wextra-semi -Wformat=2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Collecting garbage seldom takes an eighth off a unit's time, for an eighth more memory (1 GB for the largest unit).
  target_compile_options(twill_settings INTERFACE "SHELL:--param ggc-min-heapsize=262144" "SHELL:--param ggc-min-expand=200")
  # GCC 12 sees uninitialized members in every moved std::optional, and overlapping copies in "a" + std::string.
  target_compile_options(twill_settings INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()
if(TWILL_WERROR)
  # New compilers bring new warnings. Only the oldest one we support, which CI uses, may break a build with them.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(twill_settings INTERFACE -Werror)
  endif()
endif()
if(TWILL_SANITIZE)
  target_compile_options(twill_settings INTERFACE
    -fsanitize=${TWILL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(twill_settings INTERFACE -fsanitize=${TWILL_SANITIZE})
endif()

# Finds whether FILE, below src, includes HEADER: directly, or through other headers of the project.
function(twill_includes_ FILE HEADER ANSWER)
  set(known TWILL_INCLUDES_${HEADER}_${FILE})
  get_property(found GLOBAL PROPERTY ${known})
  if("${found}" STREQUAL "")
    set(found FALSE)
    set_property(GLOBAL PROPERTY ${known} FALSE)  # for headers that include each other
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${FILE} lines REGEX "^#include \"twill/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      if(NOT found AND included STREQUAL HEADER)
        set(found TRUE)
      elseif(NOT found)
        twill_includes_(${included} ${HEADER} found)
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY ${known} ${found})
  endif()
  set(${ANSWER} ${found} PARENT_SCOPE)
endfunction()

# Gives TARGET its sources in generated files which include about two dozen each. A room's headers are then read a few times instead of once per
# source. Sources that include the header of the scheduling problem have files of their own. A change of that header then spares the room's other
# sources, if these are enough to justify a file. Generated sources, whose paths are absolute, stay unchanged. The names of the files begin with NAME;
# ADDED gets all sources given to TARGET.
function(twill_sources_in_units_ TARGET NAME ADDED)
  set(made ${ARGN})
  list(FILTER made INCLUDE REGEX "^/")
  set(written ${ARGN})
  list(FILTER written EXCLUDE REGEX "^/")
  set(touched "")
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE room)
  if(room MATCHES "^twill/" AND NOT TWILL_BUILD_FUZZERS)
    foreach(source IN LISTS written)
      twill_includes_(${room}/${source} twill/problem/problem.h includes)
      if(includes)
        list(APPEND touched ${source})
      endif()
    endforeach()
  endif()
  set(spared ${written})
  list(REMOVE_ITEM spared ${touched})
  list(LENGTH spared count)
  if(count LESS TWILL_LEAST_SPARED)
    set(touched "")
    set(spared ${written})
  endif()
  twill_write_units_(${NAME} files ${spared})
  list(APPEND made ${files})
  twill_write_units_(${NAME}_problem files ${touched})
  list(APPEND made ${files})
  target_sources(${TARGET} PRIVATE ${made})
  set(${ADDED} ${made} PARENT_SCOPE)
endfunction()

# Writes files that include the given sources, equally many in each. FILES gets their paths.
function(twill_write_units_ NAME FILES)
  set(made "")
  list(LENGTH ARGN count)
  math(EXPR units "(${count} + ${TWILL_UNIT_SIZE} - 1) / ${TWILL_UNIT_SIZE}")
  if(units GREATER 0)
    math(EXPR in_each "(${count} + ${units} - 1) / ${units}")
    math(EXPR last "${units} - 1")
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} OUTPUT_VARIABLE here)
    foreach(unit RANGE ${last})
      math(EXPR first "${unit} * ${in_each}")
      list(SUBLIST ARGN ${first} ${in_each} sources)
      list(TRANSFORM sources REPLACE "(.+)" "#include \"${here}/\\1\"" OUTPUT_VARIABLE lines)
      list(JOIN lines "\n" text)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_${unit}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}\n" @ONLY)
      list(APPEND made ${file})
    endforeach()
  endif()
  set(${FILES} ${made} PARENT_SCOPE)
endfunction()

function(twill_configure_ TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "UNITS" "" "SOURCES;OPTIMIZED;USES;LINKS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${TARGET}: do not know what to do with '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(ARG_UNITS AND TWILL_UNITS)
    twill_sources_in_units_(${TARGET} ${TARGET} added ${ARG_SOURCES})
    if(ARG_OPTIMIZED)
      twill_sources_in_units_(${TARGET} ${TARGET}_optimized ARG_OPTIMIZED ${ARG_OPTIMIZED})
    endif()
  else()
    target_sources(${TARGET} PRIVATE ${ARG_SOURCES} ${ARG_OPTIMIZED})
  endif()
  set_source_files_properties(${ARG_OPTIMIZED} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
  target_link_libraries(${TARGET} PRIVATE $<BUILD_INTERFACE:twill_settings>)
  set_target_properties(${TARGET} PROPERTIES CXX_EXTENSIONS OFF)
  foreach(room IN LISTS ARG_USES)
    target_link_libraries(${TARGET} PUBLIC twill::${room})
  endforeach()
  target_link_libraries(${TARGET} PUBLIC ${ARG_LINKS})
endfunction()

# For code that is compiled far longer than it runs: with -Og GCC 12 takes two thirds of the time of -O2. Sources of the room that run long are listed
# as OPTIMIZED. Tests get -O1, since they run templates of the library's headers.
function(twill_hardly_optimized TARGET)
  set(level ${ARGN})
  if(NOT level)
    set(level -Og)
  endif()
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:${level}>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${TARGET} PRIVATE -Wno-stringop-overflow)  # of std::string + "a"
  endif()
endfunction()

function(twill_room NAME)
  add_library(twill_${NAME} STATIC)
  add_library(twill::${NAME} ALIAS twill_${NAME})
  target_include_directories(twill_${NAME} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(twill_${NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  twill_configure_(twill_${NAME} UNITS ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TWILL_ROOMS ${NAME})
endfunction()

function(twill_program NAME)
  add_executable(${NAME})
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  twill_configure_(${NAME} ${ARGN})
endfunction()

# Collects the arguments of a folder's twill_test calls. The end of the folder makes one program of them, since starting and linking a program costs
# more than most tests. APART: a program of its own, for sources that change the behaviour of others.
function(twill_test NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "APART" "" "SOURCES;USES;LINKS")
  if(ARG_APART)
    twill_test_program_(twill_test_${NAME} ${NAME} SOURCES ${ARG_SOURCES} USES ${ARG_USES} LINKS ${ARG_LINKS})
    return()
  endif()
  get_property(collected DIRECTORY PROPERTY TWILL_TEST_SOURCES)
  if(NOT collected)
    cmake_language(DEFER CALL twill_tests_of_folder_)
  endif()
  set_property(DIRECTORY APPEND PROPERTY TWILL_TEST_SOURCES ${ARG_SOURCES})
  set_property(DIRECTORY APPEND PROPERTY TWILL_TEST_USES ${ARG_USES})
  set_property(DIRECTORY APPEND PROPERTY TWILL_TEST_LINKS ${ARG_LINKS})
endfunction()

function(twill_tests_of_folder_)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  foreach(kind IN ITEMS SOURCES USES LINKS)
    get_property(${kind} DIRECTORY PROPERTY TWILL_TEST_${kind})
    list(REMOVE_DUPLICATES ${kind})
  endforeach()
  twill_test_program_(twill_tests_${folder} ${folder} UNITS SOURCES ${SOURCES} USES ${USES} LINKS ${LINKS})
endfunction()

function(twill_test_program_ TARGET PREFIX)
  add_executable(${TARGET})
  twill_configure_(${TARGET} ${ARGN})
  target_include_directories(${TARGET} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${TARGET} PRIVATE TWILL_SOURCE_DIR=".")  # tests run in the project's folder
  target_link_libraries(${TARGET} PRIVATE GTest::gtest_main)
  twill_hardly_optimized(${TARGET} -O1)
  gtest_discover_tests(${TARGET} TEST_PREFIX "${PREFIX}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES TIMEOUT 300 ENVIRONMENT "CXX=${TWILL_HOST_COMPILER}")
endfunction()

# States about how many seconds of one processor a test takes. ctest begins with the longest, so that all processors are busy to the end. A script
# that runs programs side by side is told to run one at a time, since ctest fills the other processors.
function(twill_long_test NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SECONDS" "")
  set_tests_properties(${NAME} PROPERTIES COST ${ARG_SECONDS})
endfunction()
