"""A real browser for tests: Chromium without a window, what it asked for and what it complained about."""

from __future__ import annotations

import base64
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
CLICKS = 5  # attempts: a page that follows a run is loaded anew every few seconds
PATIENCE = 60.0  # seconds: a busy machine may take long, and what is there at once is not waited for


def why_not() -> str:
    """Why there is no browser to test with; nothing if there is one."""
    if not CHROMIUM or not DRIVER:
        lacking = "chromium" if not CHROMIUM else "chromedriver"
        return f"pages are not checked in a browser: {lacking} is not installed (Debian: chromium, chromium-driver)"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "pages are not checked in a browser: selenium is not installed (it is part of the extra dev)"
    return ""


class Browser:
    """One tab."""

    def __init__(self, downloads: Path):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        options = Options()
        options.binary_location = CHROMIUM or ""
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1200,1600",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_script_timeout(30)
        self.downloads = downloads
        behavior = {"behavior": "allow", "downloadPath": str(downloads)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)

    # -- doing ------------------------------------------------------------------------------------------------------
    def open(self, path: Path, charts: int = 0) -> None:
        """Opens a file from disk and waits for its charts."""
        self.driver.get(path.as_uri())
        self.wait(lambda: len(self.all(".chart svg")) >= charts)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        found = self.all(selector)
        assert found, f"nothing on the page is {selector}"
        return found[0]

    def click(self, selector: str) -> None:
        """Clicks an element; again where the page was loaded anew after it was found and before it was clicked."""
        from selenium.common.exceptions import StaleElementReferenceException

        for attempt in range(CLICKS):
            try:
                element = self.one(selector)
                self.run("arguments[0].scrollIntoView({block: 'center'})", element)
                return element.click()
            except StaleElementReferenceException:
                if attempt == CLICKS - 1:
                    raise

    def texts(self, selector: str) -> list[str]:
        """Texts of elements, whether they are in view or not."""
        return [
            str(text).strip()
            for text in self.run(
                "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
            )
        ]

    def point_at(self, selector: str) -> None:
        """Moves the pointer over an element."""
        from selenium.webdriver import ActionChains

        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver).move_to_element(element).perform()

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def resize(self, width: int, height: int = 1200) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def printed(self) -> bytes:
        """The page as it prints."""
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])

    # -- asking -----------------------------------------------------------------------------------------------------
    def wait(self, until: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        end = time.monotonic() + seconds
        while not (found := until()):
            assert time.monotonic() < end, "the page did not get there"
            time.sleep(0.05)
        return found

    def downloaded(self, name: str) -> bytes:
        """A file that was saved from the page, once it is whole."""
        path = self.downloads / name
        self.wait(path.exists)
        self.wait(lambda: not list(self.downloads.glob("*.crdownload")))
        return path.read_bytes()

    def complaints(self) -> list[str]:
        """What the console says since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since it was asked last; what lies inside the page does not count."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("data:", "blob:"))]

    def close(self) -> None:
        self.driver.quit()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser, or a test that is skipped with the reason."""
    if reason := why_not():
        pytest.skip(reason)
    opened = Browser(tmp_path_factory.mktemp("downloads"))
    yield opened
    opened.close()
