"""The browser for the tests of the desk: the system's Chromium.

Tests take the one built without windows where there is one: the same pages and scripts, for half the work.
"""

from __future__ import annotations

import shutil

WINDOWLESS = "chromium-headless-shell"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", WINDOWLESS)
_WITHOUT = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup",  # two pages of the browser's own, loaded with every window
    # What Playwright turns off; the last list is the one that counts.
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled",
    "PreconnectToSearch",
)  # fmt: skip
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", f"--disable-features={','.join(_WITHOUT)}",
]  # fmt: skip


def find_browser() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def find_windowless() -> str | None:
    """The browser for tests, which nobody looks at; what is measured or shown is opened in `find_browser`."""
    return shutil.which(WINDOWLESS) or find_browser()
