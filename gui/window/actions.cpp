#include <gui/window/actions.hpp>

#include <array>

namespace qps::gui {

namespace {

using enum ActionId;

// clang-format off
constexpr std::array kRows{
    ActionRow{Open, "&File", "&Open...", "Ctrl+O", "Open captures; several are one capture in the order of their names", "document-open"},
    ActionRow{Reload, "&File", "Re&load", "Ctrl+R", "Read the files again", "view-refresh"},
    ActionRow{Close, "&File", "&Close", "Ctrl+W", "Close the capture", ""},
    ActionRow{SaveCapture, "&File", "&Save capture as...", "Ctrl+S", "Save all packets as pcapng, with their comments", "document-save", true},
    ActionRow{ExportPackets, "&File", "Export &packets...", "Ctrl+Shift+E", "Save the selected, marked or displayed packets as pcapng", ""},
    ActionRow{ExportAnalysis, "&File", "Export &analysis as JSON...", "", "Save everything the analysis found", ""},
    ActionRow{ExportPicture, "&File", "Export p&icture...", "Ctrl+P", "Save the picture of this view as PNG, SVG or CSV", ""},
    ActionRow{OpenInWireshark, "&File", "Open selection in &Wireshark", "", "Hand the selected or displayed packets to Wireshark", ""},
    ActionRow{Quit, "&File", "&Quit", "Ctrl+Q", "Close the window", "", true},

    ActionRow{Copy, "&Edit", "&Copy", "Ctrl+C", "Copy the selection of the view that has the keyboard", ""},
    ActionRow{Find, "&Edit", "&Find...", "Ctrl+F", "Find packets by filter, text, bytes or PSN", "edit-find", true},
    ActionRow{FindNext, "&Edit", "Find &next", "Ctrl+N", "The next packet that is searched for", ""},
    ActionRow{FindPrevious, "&Edit", "Find &previous", "Ctrl+B", "The previous packet that is searched for", ""},
    ActionRow{Mark, "&Edit", "&Mark packet", "Ctrl+M", "Mark the packet, or take its mark away", "", true},
    ActionRow{MarkShown, "&Edit", "Mark all &displayed", "Ctrl+Shift+M", "Mark every packet that is displayed", ""},
    ActionRow{NextMark, "&Edit", "Next mark", "Ctrl+Shift+N", "Go to the next marked packet", ""},
    ActionRow{PreviousMark, "&Edit", "Previous mark", "Ctrl+Shift+B", "Go to the previous marked packet", ""},
    ActionRow{Ignore, "&Edit", "&Ignore packet", "Ctrl+D", "Grey the packet, or take it back", ""},
    ActionRow{TimeReference, "&Edit", "Set &time reference", "Ctrl+T", "Times count from this packet", "", true},
    ActionRow{NextTimeReference, "&Edit", "Next time reference", "Ctrl+Alt+N", "Go to the next time reference", ""},
    ActionRow{PreviousTimeReference, "&Edit", "Previous time reference", "Ctrl+Alt+B", "Go to the previous time reference", ""},
    ActionRow{Comment, "&Edit", "Packet c&omment...", "Ctrl+Alt+C", "Write a comment, which is saved with the packet", "", true},
    ActionRow{FieldAsColumn, "&Edit", "Field as co&lumn", "Ctrl+Shift+I", "Show the selected field as a column of the list", ""},

    ActionRow{GoToPacket, "&Go", "&Go to packet...", "Ctrl+G", "Go to a packet by its number", "go-jump"},
    ActionRow{FirstPacket, "&Go", "&First packet", "Ctrl+Home", "Go to the first packet", "go-first"},
    ActionRow{LastPacket, "&Go", "&Last packet", "Ctrl+End", "Go to the last packet", "go-last"},
    ActionRow{NextPacket, "&Go", "&Next packet", "Ctrl+Down; F8", "Go to the next packet that is displayed", "go-down"},
    ActionRow{PreviousPacket, "&Go", "&Previous packet", "Ctrl+Up; F7", "Go to the previous packet that is displayed", "go-up"},
    ActionRow{NextInConnection, "&Go", "Next packet of the connection", "Ctrl+.", "Go to the next packet of the same two queue pairs", "", true},
    ActionRow{PreviousInConnection, "&Go", "Previous packet of the connection", "Ctrl+,", "Go to the previous packet of the same two queue pairs", ""},
    ActionRow{Corresponding, "&Go", "&Request or answer", "R", "Go from a request to its answer, and from an answer to its request", ""},
    ActionRow{Back, "&Go", "&Back", "Alt+Left", "The packet that was selected before", "go-previous", true},
    ActionRow{Forward, "&Go", "F&orward", "Alt+Right", "The packet that was selected after", "go-next"},
    ActionRow{NextFinding, "&Go", "Next f&inding", "Ctrl+Shift+.", "Go to the evidence of the next finding", "", true},
    ActionRow{PreviousFinding, "&Go", "Previous finding", "Ctrl+Shift+,", "Go to the evidence of the previous finding", ""},
    ActionRow{FollowMessage, "&Go", "Follow &message", "F", "Show only the packets of this message", "", true},
    ActionRow{FollowConnection, "&Go", "Follow &queue pair", "Q", "Show only the packets of this connection", ""},

    ActionRow{FocusFilter, "F&ilter", "&Edit filter", "Ctrl+/", "Move the keyboard to the filter", ""},
    ActionRow{ClearFilter, "F&ilter", "&Clear filter", "Ctrl+Shift+/", "Display all packets", ""},
    ActionRow{UndoFilter, "F&ilter", "&Undo filter", "Alt+Up", "The filter that was applied before", "edit-undo"},
    ActionRow{RedoFilter, "F&ilter", "&Redo filter", "Alt+Down", "The filter that was applied after", "edit-redo"},
    ActionRow{ConnectionFilter, "F&ilter", "Connection of this &packet", "Ctrl+Shift+Q", "Display only the connection of the selected packet", "", true},
    ActionRow{ClearRange, "F&ilter", "Whole &time", "Ctrl+Shift+T", "Take away the time range that was chosen in a picture", ""},

    ActionRow{CaptureOptions, "&Capture", "&Options...", "Ctrl+K", "Choose an interface and capture", "media-record"},
    ActionRow{StartStop, "&Capture", "&Start or stop", "Ctrl+E", "Start capturing as the last time, or stop", "media-playback-stop"},

    ActionRow{LargerText, "&View", "&Larger text", "Ctrl++; Ctrl+=", "Show everything larger", "", true},
    ActionRow{SmallerText, "&View", "&Smaller text", "Ctrl+-", "Show everything smaller", ""},
    ActionRow{NormalText, "&View", "&Normal text", "Ctrl+0", "Show everything in the size of the desktop", ""},

    ActionRow{DesktopTheme, "&View", "Colours of the &desktop", "", "Light or dark as the desktop is", "", true},
    ActionRow{LightTheme, "&View", "L&ight colours", "", "Dark text on light ground", ""},
    ActionRow{DarkTheme, "&View", "D&ark colours", "", "Light text on dark ground", ""},

    ActionRow{Keys, "&Help", "&Keys", "F1", "Every key and what it does", "help-contents"},
    ActionRow{About, "&Help", "&About qpscope", "", "Version and licence", ""},
};
// clang-format on

}  // namespace

std::span<const ActionRow> actionRows() { return kRows; }

}  // namespace qps::gui
