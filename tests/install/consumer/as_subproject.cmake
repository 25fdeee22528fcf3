# penstock as a part of another project changes nothing outside its own folder, and builds nothing but the library.
set(settings BUILD_SHARED_LIBS BUILD_TESTING CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CXX_EXTENSIONS CMAKE_CXX_FLAGS
             CMAKE_CXX_STANDARD CMAKE_EXPORT_COMPILE_COMMANDS CMAKE_POSITION_INDEPENDENT_CODE CMAKE_RUNTIME_OUTPUT_DIRECTORY)
set(properties COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_LIBRARIES LINK_OPTIONS)

# collect(<variable>): what penstock must leave alone, as text.
macro(collect variable)
  set(${variable} "")
  foreach(setting IN LISTS settings)
    string(APPEND ${variable} "${setting}=${${setting}} in the cache: $CACHE{${setting}}\n")
  endforeach()
  foreach(property IN LISTS properties)
    get_directory_property(value ${property})
    string(APPEND ${variable} "${property}=${value}\n")
  endforeach()
endmacro()

collect(before)
if(PENSTOCK_FETCH)
  include(FetchContent)
  FetchContent_Declare(penstock SOURCE_DIR ${PENSTOCK_SOURCE} BINARY_DIR ${CMAKE_BINARY_DIR}/penstock)
  FetchContent_MakeAvailable(penstock)
else()
  add_subdirectory(${PENSTOCK_SOURCE} ${CMAKE_BINARY_DIR}/penstock)
endif()
collect(after)
if(NOT before STREQUAL after)
  message(FATAL_ERROR "penstock has changed settings of the project around it. Before:\n${before}After:\n${after}")
endif()

get_property(folders DIRECTORY ${PENSTOCK_SOURCE} PROPERTY SUBDIRECTORIES)
if(folders MATCHES "/(tests|bench|examples)(;|$)")
  message(FATAL_ERROR "penstock builds more than its library: ${folders}")
endif()
