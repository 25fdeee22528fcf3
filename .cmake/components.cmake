# What the library is made of: one target for each component. README.md tells users what each is for.
#
# A list of components stands in an order in which each comes behind those that it needs.
set(PENSTOCK_COMPONENTS all CACHE STRING "Components to build, with those that they need: all, or some of core;image;imagenet")
set(all_components base core image imagenet)

set(base_needs)
set(core_needs base)
set(image_needs base)
set(imagenet_needs core image)

# The folders of their sources. tests/layering/include_rules.py has them, too: what may include what follows from the above.
set(base_folders lib/base ops/io)
set(core_folders lib ops autotune)
set(image_folders ops/image)
set(imagenet_folders ops/imagenet)

# Public headers, as patterns below include/penstock. All others are core's.
set(base_headers error.h io.h shape.h tensor.h detail/pooled.h detail/unavailable.h)
set(image_headers image.h image/*.h)
set(imagenet_headers imagenet.h labels.h voc.h)

# What is said of them, what they link, and what pkg-config calls it.
set(base_description "Tensors, errors and files for penstock's components")
set(core_description ${PROJECT_DESCRIPTION})
set(image_description "JPEG decoding, resizing and pixels for training")
set(imagenet_description "ImageNet's and VOC's data as input pipelines")
set(base_libraries Threads::Threads)
set(core_libraries TBB::tbb ZLIB::ZLIB)
set(image_libraries JPEG::JPEG hwy::hwy)
set(imagenet_libraries tinyxml2::tinyxml2)
set(core_packages tbb zlib)
set(image_packages libjpeg libhwy)
set(imagenet_packages tinyxml2)

# PENSTOCK_WANTED: those to build.
set(asked_for ${PENSTOCK_COMPONENTS})
if(PENSTOCK_COMPONENTS STREQUAL all)
  set(asked_for ${all_components})
endif()
foreach(component IN LISTS asked_for)
  if(NOT component IN_LIST all_components)
    message(FATAL_ERROR "PENSTOCK_COMPONENTS: there is no component '${component}', only ${all_components}")
  endif()
endforeach()
set(PENSTOCK_WANTED)
foreach(component IN ITEMS imagenet image core base)
  if(component IN_LIST asked_for)
    list(PREPEND PENSTOCK_WANTED ${component})
    list(APPEND asked_for ${${component}_needs})
  endif()
endforeach()

# What lies in include/ is the public API, all of it; so here, and only here, the folder is the list.
set(include_dir ${PROJECT_SOURCE_DIR}/include/penstock)
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS ${include_dir}/*.h)
set(core_public_headers ${public_headers})
foreach(component IN ITEMS base image imagenet)
  list(TRANSFORM ${component}_headers PREPEND ${include_dir}/)
  file(GLOB ${component}_public_headers CONFIGURE_DEPENDS ${${component}_headers})
  list(REMOVE_ITEM core_public_headers ${${component}_public_headers})
endforeach()

# penstock_add_component(<component>): its target penstock_<component>, with the sources of its folders.
function(penstock_add_component component)
  set(target penstock_${component})
  set(needed ${${component}_needs})
  list(TRANSFORM needed PREPEND penstock_)
  add_library(${target})
  add_library(penstock::${component} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  # Before 1.0 a minor version may break. No DEFINE_SYMBOL: both kinds of library have the same objects. The components lie in one folder.
  set_target_properties(
    ${target} PROPERTIES EXPORT_NAME ${component} VERSION ${PROJECT_VERSION} DEFINE_SYMBOL "" INSTALL_RPATH "$ORIGIN"
                         SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PENSTOCK_GENERATED_DIR})
  # What is not ours is private: it does not show in a public header.
  target_link_libraries(${target} PUBLIC ${needed} PRIVATE ${${component}_libraries})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${${component}_public_headers})
  foreach(folder IN LISTS ${component}_folders)
    add_subdirectory(${folder})
  endforeach()
endfunction()
