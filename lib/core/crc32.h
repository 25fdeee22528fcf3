// CRC-32, which finds every change of up to 32 bits in a row.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

// The one of ISO-HDLC, zip and PNG: reflected, polynomial 0x04C11DB7. Some 2 GB/s. Any thread.
std::uint32_t crc32(std::string_view bytes) noexcept;

}  // namespace penstock
