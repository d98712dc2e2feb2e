#include <gui/session/actions.hpp>

#include <array>

namespace qps::gui {

namespace {

// clang-format off
constexpr auto kRows = [] {
    using enum ActionId;
    return std::array{
        ActionRow{Open, "&File", "&Open...", "Ctrl+O", "Open capture files; several are read as one capture, ordered by name", "document-open"},
        ActionRow{NewTab, "&File", "Open in new &tab...", "Ctrl+Shift+O", "Open capture files beside this capture, in a tab of their own", ""},
        ActionRow{OpenLog, "&File", "Op&en log...", "Ctrl+Shift+L", "Show the lines of a log in time with the packets", "", false, "logs"},
        ActionRow{OpenCase, "&File", "Open case fol&der...", "Ctrl+Alt+O", "Judge a folder of logs, counters, settings and dumps", "", false, "case"},
        ActionRow{Reload, "&File", "Re&load", "Ctrl+R", "Reload the capture files", "view-refresh"},
        ActionRow{Close, "&File", "&Close", "Ctrl+W", "Close the capture", ""},
        ActionRow{CloseTab, "&File", "Close ta&b", "Ctrl+F4", "Close this tab and its capture", ""},
        ActionRow{SaveCapture, "&File", "&Save capture as...", "Ctrl+S", "Save all packets as pcapng, with comments", "document-save", true},
        ActionRow{ExportPackets, "&File", "Export &packets...", "Ctrl+Shift+E", "Save the selected, marked or displayed packets as pcapng", ""},
        ActionRow{ExportAnalysis, "&File", "Export &analysis as JSON...", "", "Save the results of the analysis as JSON", ""},
        ActionRow{Evidence, "&File", "E&vidence...", "Ctrl+Shift+V", "Report, packets and packets with pseudonyms for somebody else, with a preview of what leaves", ""},
        ActionRow{ExportPicture, "&File", "Export &graph...", "Ctrl+P", "Save the graph of this view as PNG or SVG, or its data as CSV", ""},
        ActionRow{OpenInWireshark, "&File", "Open selection in &Wireshark", "", "Open the selected or displayed packets in Wireshark", ""},
        ActionRow{Print, "&File", "Pr&int...", "Ctrl+Alt+P", "Print this view: a graph, or the rows of a table", "document-print"},
        ActionRow{ImportProfile, "&File", "I&mport profile...", "", "Take over preferences, columns, colouring rules and filters from a file", "", true},
        ActionRow{ExportProfile, "&File", "Export pro&file...", "", "Save preferences, columns, colouring rules and filters for others", ""},
        ActionRow{Quit, "&File", "&Quit", "Ctrl+Q", "Quit qpscope", "", true},

        ActionRow{Copy, "&Edit", "&Copy", "Ctrl+C", "Copy the selection", ""},
        ActionRow{Find, "&Edit", "&Find...", "Ctrl+F", "Find packets by filter, text, bytes or PSN", "edit-find", true, "packets"},
        ActionRow{FindNext, "&Edit", "Find &next", "Ctrl+N", "Go to the next match", "", false, "packets"},
        ActionRow{FindPrevious, "&Edit", "Find &previous", "Ctrl+B", "Go to the previous match", "", false, "packets"},
        ActionRow{Mark, "&Edit", "&Mark/unmark packet", "Ctrl+M", "Mark or unmark the packet", "", true, "packets"},
        ActionRow{MarkShown, "&Edit", "Mark all &displayed", "Ctrl+Shift+M", "Mark all displayed packets", "", false, "packets"},
        ActionRow{NextMark, "&Edit", "Next mark", "Ctrl+Shift+N", "Go to the next marked packet", "", false, "packets"},
        ActionRow{PreviousMark, "&Edit", "Previous mark", "Ctrl+Shift+B", "Go to the previous marked packet", "", false, "packets"},
        ActionRow{Ignore, "&Edit", "&Ignore/unignore packet", "Ctrl+D", "Grey out the packet, or undo that", "", false, "packets"},
        ActionRow{TimeReference, "&Edit", "Set/unset &time reference", "Ctrl+T", "Count times from this packet", "", true, "packets"},
        ActionRow{NextTimeReference, "&Edit", "Next time reference", "Ctrl+Alt+N", "Go to the next time reference", "", false, "packets"},
        ActionRow{PreviousTimeReference, "&Edit", "Previous time reference", "Ctrl+Alt+B", "Go to the previous time reference", "", false, "packets"},
        ActionRow{Comment, "&Edit", "Packet c&omment...", "Ctrl+Alt+C", "Edit the comment of the packet", "", true, "packets"},
        ActionRow{UnmarkAll, "&Edit", "&Unmark all", "Ctrl+Alt+M", "Take all marks away", ""},
        ActionRow{IgnoreShown, "&Edit", "Ignore all displayed", "Ctrl+Shift+D", "Grey out all displayed packets", "", false, "packets"},
        ActionRow{UnignoreAll, "&Edit", "Unignore all", "Ctrl+Alt+D", "Grey out no packet any more", "", false, "packets"},
        ActionRow{FieldAsColumn, "&Edit", "Apply as co&lumn", "Ctrl+Shift+I", "Show the selected field as a column of the packet list", "", false, "packets"},

        ActionRow{TimeShift, "&Edit", "Time s&hift...", "Ctrl+Shift+T", "Move the times of the files, and merge several by time", "", true},
        ActionRow{EditPreferences, "&Edit", "P&references...", "Ctrl+Shift+P", "ICRC, link speed, times, names", "", true},

        ActionRow{GoToPacket, "&Go", "&Go to packet...", "Ctrl+G", "Go to a packet by its number", "go-jump"},
        ActionRow{LogLine, "&Go", "Find log line", "Ctrl+L", "Find the connection that a line of a log is about", "", false, "logs"},
        ActionRow{FirstPacket, "&Go", "&First packet", "Ctrl+Home", "Go to the first packet", "go-first", false, "packets"},
        ActionRow{LastPacket, "&Go", "&Last packet", "Ctrl+End", "Go to the last packet", "go-last", false, "packets"},
        ActionRow{NextPacket, "&Go", "&Next packet", "Ctrl+Down; F8", "Go to the next displayed packet", "go-down", false, "packets"},
        ActionRow{PreviousPacket, "&Go", "&Previous packet", "Ctrl+Up; F7", "Go to the previous displayed packet", "go-up", false, "packets"},
        ActionRow{NextInConnection, "&Go", "Next packet in connection", "Ctrl+.", "Go to the next packet of the same connection", "", true, "packets"},
        ActionRow{PreviousInConnection, "&Go", "Previous packet in connection", "Ctrl+,", "Go to the previous packet of the same connection", "", false, "packets"},
        ActionRow{Corresponding, "&Go", "&Corresponding packet", "Ctrl+J", "Go from a request to its response, or from a response to its request", "", false, "packets"},
        ActionRow{Back, "&Go", "&Back", "Alt+Left", "Go back to the packet selected before", "go-previous", true},
        ActionRow{Forward, "&Go", "F&orward", "Alt+Right", "Go forward to the packet selected after", "go-next"},
        ActionRow{NextFinding, "&Go", "Next f&inding", "Ctrl+Shift+.", "Go to the evidence of the next finding", "finding-next", true},
        ActionRow{PreviousFinding, "&Go", "Previous finding", "Ctrl+Shift+,", "Go to the evidence of the previous finding", "finding-previous"},
        ActionRow{NextEvent, "&Go", "Next &event of finding", "Ctrl+Alt+.", "Go to the next packet at which the finding happened", ""},
        ActionRow{PreviousEvent, "&Go", "Previous event of finding", "Ctrl+Alt+,", "Go to the previous packet at which the finding happened", ""},
        ActionRow{FollowMessage, "&Go", "Follow &message", "Ctrl+Shift+F", "Show only the packets of this message", "", true, "packets"},
        ActionRow{FollowConnection, "&Go", "Follow &queue pair", "Ctrl+Alt+F", "Show only the packets of this queue pair and its peer", "", false, "packets"},
        ActionRow{FollowPayload, "&Go", "Follow pa&yload", "Ctrl+Alt+Shift+F", "Show what the messages of this queue pair and its peer carried", ""},

        ActionRow{FocusFilter, "F&ilter", "&Edit filter", "Ctrl+/", "Move the cursor to the display filter", ""},
        ActionRow{ClearFilter, "F&ilter", "&Clear filter", "Ctrl+Shift+/", "Clear the display filter", "edit-clear"},
        ActionRow{UndoFilter, "F&ilter", "&Undo filter", "Alt+Up", "Return to the previous display filter", "edit-undo"},
        ActionRow{RedoFilter, "F&ilter", "&Redo filter", "Alt+Down", "Go on to the next display filter", "edit-redo"},
        ActionRow{ConnectionFilter, "F&ilter", "Connection &filter", "Ctrl+Shift+Q", "Display only the connection of the selected packet", "", true, "packets"},
        ActionRow{ClearRange, "F&ilter", "Clear &time range", "Ctrl+Alt+R", "Clear the time range selected in a graph", ""},

        ActionRow{CaptureOptions, "&Capture", "&Options...", "Ctrl+K", "Choose an interface and start a capture", "network-wired"},
        ActionRow{StartStop, "&Capture", "&Start/stop", "Ctrl+E", "Start a capture with the last options, or stop it", "media-record"},

        ActionRow{NextTab, "&View", "Next &tab", "Ctrl+PgDown", "Show the next tab", ""},
        ActionRow{PreviousTab, "&View", "Previous tab", "Ctrl+PgUp", "Show the previous tab", ""},
        ActionRow{LargerText, "&View", "&Larger text", "Ctrl++; Ctrl+=", "Increase the text size", "", true},
        ActionRow{SmallerText, "&View", "&Smaller text", "Ctrl+-", "Decrease the text size", ""},
        ActionRow{NormalText, "&View", "&Normal text", "Ctrl+0", "Reset the text size", ""},

        ActionRow{FitColumns, "&View", "&Resize columns", "Ctrl+Shift+R", "Make all columns of the packet list as wide as the packets in sight need", "", true, "packets"},
        ActionRow{ColoringRules, "&View", "C&olouring rules...", "", "Edit the rules that colour packets: filters, colours, order", "", false, "packets"},

        ActionRow{DesktopTheme, "&View", "&Desktop colours", "", "Follow the light or dark theme of the desktop", "", true},
        ActionRow{LightTheme, "&View", "L&ight colours", "", "Dark text on a light background", ""},
        ActionRow{DarkTheme, "&View", "D&ark colours", "", "Light text on a dark background", ""},

        ActionRow{Keys, "&Help", "&Keyboard shortcuts", "F1", "List the keyboard shortcuts", "help-contents"},
        ActionRow{About, "&Help", "&About qpscope", "", "Show version and licence", ""},
    };
}();
// clang-format on

}  // namespace

std::span<const ActionRow> actionRows() { return kRows; }

}  // namespace qps::gui
