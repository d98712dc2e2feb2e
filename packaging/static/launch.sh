#!/bin/sh
# qpscope-gui with the loader, libraries, fonts and keyboard tables of this folder, wherever it lies; nothing of the system's is used.
here=$(dirname "$(readlink -f "$0")")
# What a desktop says to programs of its own Qt, or of its own C library, is not for this one.
unset LD_PRELOAD QT_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH QT_QPA_PLATFORMTHEME QT_STYLE_OVERRIDE
case ${QT_QPA_PLATFORM:-} in wayland*) QT_QPA_PLATFORM=xcb ;; esac
export FONTCONFIG_FILE="${FONTCONFIG_FILE:-$here/share/fontconfig/fonts.conf}"
export XKB_CONFIG_ROOT="${XKB_CONFIG_ROOT:-$here/share/X11/xkb}" XLOCALEDIR="${XLOCALEDIR:-$here/share/X11/locale}"
# bin/qpscope-gui is the loader: so the program is found by its name, and its files by their place.
exec "$here/bin/qpscope-gui" --inhibit-cache --library-path "$here/lib" --argv0 "$here/qpscope-gui" "$here/libexec/qpscope-gui" "$@"
