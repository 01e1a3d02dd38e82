"""The browser for the tests of the desk: the system's Chromium, installed with apt where that is allowed.

Tests take the one built without windows where there is one: the same pages and scripts, for half the work.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

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


def install_browser() -> None:
    """Try once; the tests say what is missing where this does not help."""
    if shutil.which(WINDOWLESS) or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    if not find_browser():
        _apt_get("update")
    _apt_get("install", "-y", "--no-install-recommends", WINDOWLESS)
    if not find_browser():
        _apt_get("install", "-y", "--no-install-recommends", "chromium")


def _apt_get(*arguments: str) -> None:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", *arguments], env=environment, check=False, **quiet)  # type: ignore[call-overload]


if __name__ == "__main__":
    if "--install" in sys.argv:
        install_browser()
    print(find_windowless() or "no Chromium found: the tests of the desk will be skipped")
