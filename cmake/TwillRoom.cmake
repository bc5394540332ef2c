# One folder, one namespace, one target: the three functions every CMakeLists.txt of Twill is written in.
#
#   twill_room(solve SOURCES search.cpp engine.cpp USES schedule LINKS fmt::fmt)
#       src/twill/solve becomes the static library twill_solve (alias twill::solve).
#   twill_program(twill SOURCES main.cpp USES cli)
#       an executable, placed at the top of the build folder.
#   twill_test(solve_search SOURCES search_test.cpp USES solve LINKS rapidcheck)
#       a GoogleTest binary twill_test_solve_search; every TEST in it is one ctest entry "solve_search.Suite.Case".
#
# USES names rooms, in any order of definition; LINKS names any other CMake targets. SOURCES may lie in subfolders.

include(GoogleTest)

add_library(twill_settings INTERFACE)
target_compile_features(twill_settings INTERFACE cxx_std_20)
target_compile_options(twill_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wdouble-promotion -Wcast-align -Wcast-qual -Wextra-semi -Wformat=2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
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

function(twill_configure_ TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;USES;LINKS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${TARGET}: do not know what to do with '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  target_sources(${TARGET} PRIVATE ${ARG_SOURCES})
  target_link_libraries(${TARGET} PRIVATE $<BUILD_INTERFACE:twill_settings>)
  set_target_properties(${TARGET} PROPERTIES CXX_EXTENSIONS OFF)
  foreach(room IN LISTS ARG_USES)
    target_link_libraries(${TARGET} PUBLIC twill::${room})
  endforeach()
  target_link_libraries(${TARGET} PUBLIC ${ARG_LINKS})
endfunction()

# For code that is compiled far longer than it runs: a third less to build. There GCC 12 also sees overlong copies in
# std::string + "a".
function(twill_hardly_optimized TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${TARGET} PRIVATE -Wno-stringop-overflow)
  endif()
endfunction()

function(twill_room NAME)
  add_library(twill_${NAME} STATIC)
  add_library(twill::${NAME} ALIAS twill_${NAME})
  target_include_directories(twill_${NAME} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(twill_${NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  twill_configure_(twill_${NAME} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TWILL_ROOMS ${NAME})
endfunction()

function(twill_program NAME)
  add_executable(${NAME})
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  twill_configure_(${NAME} ${ARGN})
endfunction()

function(twill_test NAME)
  set(target twill_test_${NAME})
  add_executable(${target})
  twill_configure_(${target} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE TWILL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  twill_hardly_optimized(${target})
  gtest_discover_tests(${target}
    TEST_PREFIX "${NAME}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()
