"""The browser for the tests of the desk: the system's Chromium, installed with apt where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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


def install_browser() -> None:
    """Try once; the tests say what is missing where this does not help."""
    if find_browser() or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", "chromium"],
    ):
        subprocess.run(command, env=environment, check=False, **quiet)  # type: ignore[call-overload]


if __name__ == "__main__":
    if "--install" in sys.argv:
        install_browser()
    print(find_browser() or "no Chromium found: the tests of the desk will be skipped")
