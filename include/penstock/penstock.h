// The public API but for files and pictures. Start with dataset.h (ops) and sources.h (where data comes from); run.h is
// iteration, options.h the settings, op.h the interface for ops of your own.
//
// Images need <penstock/imagenet.h> (ImageNet as a dataset) or the parts that it is made of: image.h, io.h, voc.h,
// labels.h.
#pragma once

#include <penstock/batch.h>
#include <penstock/checkpoint.h>
#include <penstock/checkpoint_file.h>
#include <penstock/codec.h>
#include <penstock/dataset.h>
#include <penstock/error.h>
#include <penstock/explanation.h>
#include <penstock/fields.h>
#include <penstock/knob.h>
#include <penstock/merging.h>
#include <penstock/op.h>
#include <penstock/options.h>
#include <penstock/padded_batch.h>
#include <penstock/ragged_batch.h>
#include <penstock/random_split.h>
#include <penstock/rejection_resample.h>
#include <penstock/rewrites.h>
#include <penstock/run.h>
#include <penstock/saved.h>
#include <penstock/snapshot.h>
#include <penstock/sources.h>
#include <penstock/tensor.h>
#include <penstock/tunable.h>
#include <penstock/world.h>
