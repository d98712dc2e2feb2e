"""The anchors of headings as GitHub makes them, so that links hold on the site as in the repository (tests/docs/links.sh)."""
import re


def github(text, separator="-"):
    return re.sub(r"[^a-z0-9 _-]", "", text.lower()).strip().replace(" ", separator)
