// What the messages and data of NVMe say of a conversation in words: names, sizes, health, the discovery log.
//
// Data may have been captured in part, and holds any characters: what is not there is not told, UlpConversation::note()
// makes the rest printable.
#pragma once

#include <dissect/ulp/nvme_kinds.hpp>
#include <transport-replay/model/ulp_report.hpp>

namespace qps::transport::nvme {

inline constexpr std::uint32_t kDiscoveryLog = 0x70;
inline constexpr std::uint32_t kSmartLog = 0x02;
inline constexpr std::size_t kNvmeControllerAttributes = 100;  // bytes of Identify Controller up to behind them

void note_queue(UlpConversation& conversation, std::uint16_t queue);
void note_connect(UlpConversation& conversation, dissect::Bytes arguments);
void note_connect_data(UlpConversation& conversation, dissect::Bytes data);
void note_controller_id(UlpConversation& conversation, std::uint16_t id);
// What the answer to Connect requires: AUTHREQ, 0 for nothing.
void note_authentication(UlpConversation& conversation, std::uint16_t required);
void note_authentication_in_band(UlpConversation& conversation);
void note_version(UlpConversation& conversation, std::uint32_t version);
// `data` from the first byte of the structure on. `space`: the namespace that was asked for.
void note_data(UlpConversation& conversation, dissect::NvmeData holds, dissect::Bytes data, std::uint32_t space);
// Why a Connect failed: its status, and for invalid parameters which one the first dword of the result names.
[[nodiscard]] std::string connect_failure(std::uint32_t status, std::uint32_t result);
[[nodiscard]] std::string status_words(std::uint32_t status, bool of_fabrics);

}  // namespace qps::transport::nvme
