// Checkpoints in files, which survive whatever ends the process while they are written.
//
//   auto run = train.start({.epochs = 90, .resume_from = ps::load_checkpoint("train.ckpt")});  // null the first time
//   run.next();
//   ps::save_checkpoint("train.ckpt", run);                                                    // every 100 batches
//
// The last two are kept: "train.ckpt", and "train.ckpt.previous", the one before. Both are written whole beside their
// places ("train.ckpt.part"), put on the disk, and then take them in one step: killed at any moment, a process leaves a
// whole file at least. A checkpoint is of use only with weights that stood at the same place: where a process may be
// killed between the two, put Checkpoint::to_bytes() into the weights' file (examples/resume.cc).
//
// Of several ranks each writes a file of its own, as its shard is its own. Any thread may call these functions; for one
// path one at a time, of all processes.
#pragma once

#include <memory>
#include <string>

#include <penstock/checkpoint.h>
#include <penstock/run.h>

#pragma GCC visibility push(default)

namespace penstock {

// Waits for the disk, twice: some milliseconds. Error where a file cannot be written (no room, no right, no such
// folder; unavailable: another one writes it); the file that was there is there still, whole.
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);
// run.checkpoint(), with its errors. Not while another thread reads the run.
template <class T> void save_checkpoint(const std::string& path, const Run<T>& run) {
  save_checkpoint(path, run.checkpoint());
}

// The newest whole one; null where there is neither file, so that the first start of a program need not differ from the
// others. Where the newest is damaged and the one before is not, that one, and a line on stderr says so.
//  Error(data_loss)      there is none that is not damaged; the text tells the place in the newest
//  Error(unimplemented)  a newer version of the library wrote it
//  Error                 it cannot be read (no right, a folder): as read_file() in io.h
std::shared_ptr<const Checkpoint> load_checkpoint(const std::string& path);

// For people: where it stands, how a run goes on from there, and the pipeline with its seeds.
//  epoch 3, behind 1200 elements and errors, the last 2 of them errors
//  goes on by position, behind element 51199 of the source, in pass 0
//  0 from_file_list(train.txt, 1281167 files)
//  1 shuffle(buffer_size=1281167, seed=7)
std::string to_text(const Checkpoint& checkpoint);

}  // namespace penstock

#pragma GCC visibility pop
