// Pictures: everything between a JPEG file and the values of a training batch. All of it are plain
// functions over bytes and tensors, safe from any number of threads, for use in .map() or without a
// dataset.
//
//  image/view.h             ImageView, Window, Size; hflip: start here
//  image/jpeg.h             decode_jpeg, read_jpeg_header
//  image/boxes.h            boxes that follow a crop and a flip
//  image/crop_and_resize.h  boxes cut out as TensorFlow does it
//  image/resize.h           antialiased resizing as Pillow does it; random and centre crops
//  image/convert.h          normalised floats, half precision, bytes
//  image/output.h           where the values of a sample go
//  image/transform.h        steps that can be chained into one pass
//  image/simd.h             which instructions they use
//
// Beside it: penstock/voc.h (annotations and their boxes), penstock/labels.h (class labels), penstock/io.h (files).
#pragma once

#include <penstock/image/boxes.h>            // IWYU pragma: export
#include <penstock/image/convert.h>          // IWYU pragma: export
#include <penstock/image/crop_and_resize.h>  // IWYU pragma: export
#include <penstock/image/jpeg.h>             // IWYU pragma: export
#include <penstock/image/output.h>           // IWYU pragma: export
#include <penstock/image/resize.h>           // IWYU pragma: export
#include <penstock/image/simd.h>             // IWYU pragma: export
#include <penstock/image/transform.h>        // IWYU pragma: export
#include <penstock/image/view.h>             // IWYU pragma: export
