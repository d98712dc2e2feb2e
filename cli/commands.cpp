// The table of sub-commands.
#include <cli/commands.hpp>

namespace qps::cli {

namespace {

constexpr std::array kCommands{
    &kAnalyzeCommand,  &kFindingsCommand,  &kConnectionsCommand, &kMessagesCommand, &kOperationsCommand,
    &kCaseCommand,     &kTimelineCommand,  &kSeriesCommand,      &kCmCommand,       &kFabricCommand,
    &kCheckCommand,    &kExportCommand,    &kMergeCommand,       &kInfoCommand,     &kPacketsCommand,
    &kShowCommand,     &kFollowCommand,    &kFieldsCommand,      &kReportCommand,   &kExtractCommand,
    &kAnnotateCommand, &kAnonymizeCommand, &kCollectCommand,     &kDoctorCommand,
};

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

}  // namespace qps::cli
