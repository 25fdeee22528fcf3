// A file system's files as they were before gzip packed them: each that begins as gzip does (1f 8b) is unpacked while
// it is read; the others are read as they are. Packed ones may have several parts, one behind the other, and
// zeros behind the last one (RFC 1952 2.2, and as gzip(1) does).
//
// EBADMSG, from read(), where what is packed is damaged, cut short, or has something else behind it. A packed file says
// that it has no bytes, for nobody knows how many come. Holds 72 KiB for each that is open.
#pragma once

#include "ops/io/file_system.h"

namespace penstock::ops {

io::FileSystemRef unpacked(io::FileSystemRef packed);

}  // namespace penstock::ops
