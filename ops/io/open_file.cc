#include "ops/io/open_file.h"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "lib/base/errno_code.h"
#include "lib/base/text.h"

namespace penstock::io {
namespace {

const char* hint_of_errno(int number) {
  switch (number) {
    case EMFILE: return " (raise the limit with 'ulimit -n', or read fewer at once: RunOptions::open_io)";
    case EIO:
    case ESTALE: return " (a fault of the disk or network file system; try again, or copy the file)";
    case ENOENT:
    case ENOTDIR: return " (check the path)";
    case EACCES:
    case EPERM: return " (let this user read the file and enter its folders)";
    case EISDIR: return " (it is a folder: give a file)";
    case ELOOP: return " (its links lead in a circle)";
    case EBADMSG: return " (the file, if gzip has packed it, or else the disk is damaged: copy it again)";
    case ENAMETOOLONG: return " (is it a list of paths without line ends?)";
    default: return "";
  }
}

Answer<std::unique_ptr<File>> open_with_patience(const FileSystem& files, const std::string& path) {
  constexpr std::chrono::milliseconds longest{128};
  for (std::chrono::milliseconds pause{1};;) {
    auto opened = files.open(path);
    if (opened.error == EINTR) continue;
    const bool is_worth_waiting = opened.error == EMFILE || opened.error == ENFILE;
    if (!is_worth_waiting || pause > longest) return opened;
    files.pause(std::exchange(pause, 2 * pause));
  }
}

}  // namespace

Error file_error(const std::string& verb, const std::string& path, int number) {
  // What a file system says beyond the usual is its own trouble.
  return Error(code_of_errno(number, ErrorCode::unavailable), "cannot " + verb + " " + in_quotes(path) + ": " +
                                                                  std::generic_category().message(number) +
                                                                  hint_of_errno(number));
}

Error shrinking_error(const std::string& path, std::size_t expected, std::size_t got) {
  return Error(ErrorCode::unavailable, "cannot read " + in_quotes(path) + ": it shrank from " +
                                           std::to_string(expected) + " to " + std::to_string(got) +
                                           " bytes while it was read; is something writing it?");
}

Answer<std::unique_ptr<File>> try_to_open(const FileSystem& files, const std::string& path) {
  if (path.find('\0') != std::string::npos)
    throw Error(ErrorCode::invalid_argument,
                "cannot open " + in_quotes(path) + ": the path contains a NUL; is the list a text file?");
  return open_with_patience(files, path);
}

std::unique_ptr<File> open_for_reading(const FileSystem& files, const std::string& path) {
  auto opened = try_to_open(files, path);
  if (opened.error != 0) throw file_error("open", path, opened.error);
  return std::move(opened.value);
}

void write_all(NewFile& file, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto [count, error] = file.write(bytes);
    if (error != 0 && error != EINTR) throw file_error("write", path, error);
    bytes = bytes.subspan(count);
  }
}

FileVersion version_of(File& file, const std::string& path) {
  const auto [status, error] = file.status();
  if (error != 0) throw file_error("inspect", path, error);
  if (status.kind == FileKind::folder) throw file_error("read", path, EISDIR);
  if (status.kind != FileKind::regular)
    throw Error(ErrorCode::invalid_argument,
                "cannot read " + in_quotes(path) + ": not a regular file, but a pipe, socket or device; give a file");
  return status.version;
}

}  // namespace penstock::io
