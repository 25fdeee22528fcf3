# `cmake --install build/release --prefix DIR`: libraries, headers, CMake package, pkg-config files, benchmark.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Static libraries need their dependencies on every link line, shared ones only themselves.
set(PENSTOCK_IS_STATIC OFF)
if(PENSTOCK_LIBRARY_TYPE STREQUAL STATIC_LIBRARY)
  set(PENSTOCK_IS_STATIC ON)
endif()

# Relative, so that the installed tree can be moved.
file(RELATIVE_PATH PENSTOCK_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)

# penstock_install_pc(<name> <description> <libs> <package>...): the pkg-config file of a component, or of all. The packages are in `Requires`, not in
# `Requires.private`: where there is only a static library, plain `pkg-config --libs` must give what it needs.
function(penstock_install_pc name PENSTOCK_PC_DESCRIPTION PENSTOCK_PC_LIBS)
  list(JOIN ARGN ", " PENSTOCK_PC_REQUIRES)
  set(PENSTOCK_PC_NAME ${name})
  configure_file(.cmake/penstock.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

foreach(component IN LISTS PENSTOCK_WANTED)
  install(TARGETS penstock_${component} EXPORT penstock-${component} FILE_SET HEADERS)
  install(EXPORT penstock-${component} NAMESPACE penstock:: DESTINATION ${package_dir})
  set(requires ${${component}_needs})
  list(TRANSFORM requires REPLACE "(.+)" "penstock-\\1 = ${PROJECT_VERSION}")
  if(PENSTOCK_IS_STATIC)
    list(APPEND requires ${${component}_packages})
  endif()
  penstock_install_pc(penstock-${component} "${${component}_description}" "-L\${libdir} -lpenstock_${component}" ${requires})
endforeach()
install(TARGETS penstock EXPORT penstock-all)
install(EXPORT penstock-all NAMESPACE penstock:: DESTINATION ${package_dir})
list(TRANSFORM PENSTOCK_WANTED REPLACE "(.+)" "penstock-\\1 = ${PROJECT_VERSION}" OUTPUT_VARIABLE all_requires)
penstock_install_pc(penstock "${PROJECT_DESCRIPTION}" "" ${all_requires})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/penstockConfig.cmake.in ${PROJECT_BINARY_DIR}/penstockConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penstockConfig.cmake
              ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake DESTINATION ${package_dir})

foreach(program penstock-imagenet penstock-pack)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
