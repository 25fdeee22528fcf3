// The cursors: one for each kind of op. See cursor.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/exec/cursor.h"
#include "lib/graph/positions.h"

namespace penstock::exec {

// `op`: the source's. `source`: its number among the dataset's (Stamp::source).
std::unique_ptr<Cursor> positions_cursor(const CursorOp& op, const graph::Positions& positions, std::uint16_t source);
std::unique_ptr<Cursor> reader_cursor(const CursorOp& op, std::uint16_t source);
std::unique_ptr<Cursor> elementwise_cursor(const CursorOp& op, std::unique_ptr<Cursor> input);
std::unique_ptr<Cursor> stream_cursor(const CursorOp& op, std::unique_ptr<Cursor> input);
std::unique_ptr<Cursor> repeat_cursor(std::int64_t count, std::unique_ptr<Cursor> input);
std::unique_ptr<Cursor> merge_cursor(const CursorOp& op, std::vector<std::unique_ptr<Cursor>> inputs);
// Of an op that opens datasets. `depth`: of the dataset that it is in.
std::unique_ptr<Cursor> nest_cursor(const CursorOp& op, std::unique_ptr<Cursor> input, int depth);

}  // namespace penstock::exec
