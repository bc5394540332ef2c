# Places of installed files: the program, one library twill::twill of all rooms but the command line, its headers, and the
# package for find_package(twill). Machines and runtime headers are part of the library.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(rooms GLOBAL PROPERTY TWILL_ROOMS)
list(REMOVE_ITEM rooms cli)
list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:twill_\\1>" OUTPUT_VARIABLE objects)

add_library(twill_library STATIC ${objects})
add_library(twill::twill ALIAS twill_library)
set_target_properties(twill_library PROPERTIES OUTPUT_NAME twill EXPORT_NAME twill LINKER_LANGUAGE CXX)
target_compile_features(twill_library PUBLIC cxx_std_20)
target_include_directories(twill_library PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(twill_library PUBLIC tl::expected Threads::Threads PRIVATE fmt::fmt)

install(TARGETS twill_library EXPORT twill)  # the program installs itself, in src/twill/cli
install(DIRECTORY src/twill/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/twill
  FILES_MATCHING PATTERN "*.h" PATTERN cli EXCLUDE)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/twill)
install(EXPORT twill NAMESPACE twill:: FILE twillTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/twillConfig.cmake.in ${PROJECT_BINARY_DIR}/twillConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/twillConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/twillConfig.cmake ${PROJECT_BINARY_DIR}/twillConfigVersion.cmake
  DESTINATION ${package})
