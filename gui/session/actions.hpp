// THE table of what a user can do from menus and keys: what it is called, where it stands, which keys it has. Menus,
// toolbar, the page of keys and the tests derive from it. The keys are those that users of Wireshark have in their
// hands.
#pragma once

#include <span>
#include <string_view>

namespace qps::gui {

enum class ActionId {
    Open,
    NewTab,
    OpenLog,
    OpenCase,
    Reload,
    Close,
    CloseTab,
    SaveCapture,
    ExportPackets,
    ExportAnalysis,
    Evidence,
    ExportPicture,
    OpenInWireshark,
    Print,
    ImportProfile,
    ExportProfile,
    Quit,
    Copy,
    Find,
    FindNext,
    FindPrevious,
    Mark,
    MarkShown,
    NextMark,
    PreviousMark,
    Ignore,
    TimeReference,
    NextTimeReference,
    PreviousTimeReference,
    Comment,
    UnmarkAll,
    IgnoreShown,
    UnignoreAll,
    FieldAsColumn,
    TimeShift,
    EditPreferences,
    GoToPacket,
    LogLine,
    FirstPacket,
    LastPacket,
    NextPacket,
    PreviousPacket,
    NextInConnection,
    PreviousInConnection,
    Corresponding,
    Back,
    Forward,
    NextFinding,
    PreviousFinding,
    NextEvent,
    PreviousEvent,
    FollowMessage,
    FollowConnection,
    FollowPayload,
    FocusFilter,
    ClearFilter,
    UndoFilter,
    RedoFilter,
    ConnectionFilter,
    ClearRange,
    CaptureOptions,
    StartStop,
    FitColumns,
    ColoringRules,
    NextTab,
    PreviousTab,
    LargerText,
    SmallerText,
    NormalText,
    DesktopTheme,
    LightTheme,
    DarkTheme,
    Keys,
    About,
};

struct ActionRow {
    ActionId id;
    std::string_view menu;  // its title; the menus stand in the order of their first rows
    std::string_view text;
    std::string_view keys;    // portable text; several separated by "; "
    std::string_view tip;     // one sentence
    std::string_view icon;    // of the icon theme; empty: none, and not in the toolbar
    bool separated = false;   // a line above it
    std::string_view view{};  // that carries it out (View::carryOut()); empty: the window does
};

[[nodiscard]] std::span<const ActionRow> actionRows();

}  // namespace qps::gui
