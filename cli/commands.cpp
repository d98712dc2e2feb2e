// The table of sub-commands.
#include <cli/commands.hpp>

namespace qps::cli {

namespace {

constexpr std::array kCommands{
    &analyze_command,  &findings_command, &connections_command, &messages_command, &operations_command, &case_command,
    &timeline_command, &cm_command,       &fabric_command,      &check_command,    &export_command,     &merge_command,
    &info_command,     &packets_command,  &show_command,        &follow_command,   &fields_command,     &report_command,
    &extract_command,  &annotate_command, &anonymize_command,   &collect_command,  &doctor_command,
};

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

}  // namespace qps::cli
