# `cmake --install build/release --prefix DIR`: library, headers, CMake package, pkg-config file, benchmark.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A static library needs its dependencies on every link line, a shared one only itself.
if(PENSTOCK_LIBRARY_TYPE STREQUAL STATIC_LIBRARY)
  set(PENSTOCK_IS_STATIC ON)
  set(PENSTOCK_PC_DEPENDENCIES "Requires: tbb libjpeg tinyxml2 libhwy\nLibs.private: -pthread\n")
else()
  set(PENSTOCK_IS_STATIC OFF)
  set(PENSTOCK_PC_DEPENDENCIES "")
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)
install(TARGETS penstock EXPORT penstockTargets FILE_SET HEADERS)
install(EXPORT penstockTargets NAMESPACE penstock:: DESTINATION ${package_dir})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/penstockConfig.cmake.in ${PROJECT_BINARY_DIR}/penstockConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penstockConfig.cmake
              ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake DESTINATION ${package_dir})

# Relative, so that the installed tree can be moved.
file(RELATIVE_PATH PENSTOCK_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/penstock.pc.in ${PROJECT_BINARY_DIR}/penstock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(program penstock-imagenet penstock-pack)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
