#!/usr/bin/env python3
"""Protects: pages are what they promise to be in a browser: every section is there, tables sort, nothing is written to
the console, nothing is asked of the network, nothing hangs over the edge of a phone, and a user's words run no script.
Usage: browser.py --twill PROGRAM [--keep FOLDER]

Exit code 77, which ctest takes for "skipped", where there is no Chromium. --keep leaves pages and pictures behind.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = "kernels/fa_fwd/sm_90/d128.pre.ttgir"
SECTIONS = {"verdict", "steady-state", "schedule", "pipes", "waits", "memory", "roles", "operations", "basis"}
NASTY = "x<img src=1 onerror=document.title='owned'>.loop"


class Browser:
    """Chromium, spoken to in its own protocol (Chrome DevTools) over a pair of pipes."""

    def __init__(self, program, profile):
        from_us, self.to = os.pipe()
        self.back, to_us = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "$0" "$@" 3<&%d 4>&%d' % (from_us, to_us), program, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(from_us, to_us), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.rest, self.last, self.events, self.session = b"", 0, [], None
        page = next(it for it in self.call("Target.getTargets")["targetInfos"] if it["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise EOFError("the browser is gone")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, page):
        self.events = []
        self.call("Page.navigate", url=page.as_uri())
        while not any(it.get("method") == "Page.loadEventFired" for it in self.events):
            self.events.append(self.receive())

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def complaints(self):
        """What the page wrote to the console, threw, or asked for beside itself."""
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                yield json.dumps(what)[:400]
            if method == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:,")):
                yield "asked for " + what["request"]["url"]

    def picture(self, file, **wanted):
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **wanted)["data"]))

    def close(self):
        self.call("Browser.close")
        self.process.wait(30)


class Checks:
    def __init__(self):
        self.failed = []

    def that(self, truth, what):
        if not truth:
            self.failed.append(what)


def sections(browser):
    return set(browser.ask("[...document.querySelectorAll('section')].map(it => it.id)"))


def column(browser, table, index):
    return browser.ask(f"[...document.querySelector('#{table} tbody').rows].map(it => it.cells[{index}].textContent)")


def look_at_schedule(browser, checks):
    checks.that(sections(browser) >= SECTIONS, f"sections of schedule: {sections(browser)}")
    checks.that(browser.ask("document.querySelectorAll('#steady-state svg.bar').length") > 20, "bars")
    checks.that(browser.ask("document.querySelectorAll('#steady-state .arrow').length") > 2, "arrows of barriers")
    checks.that(browser.ask("document.querySelectorAll('#steady-state .bar.wait').length") > 1, "waits")
    checks.that(browser.ask("document.querySelectorAll('#verdict .card').length") >= 2, "figures")
    wide = "[...document.querySelectorAll('#steady-state svg.bar:not(.wait)')].every(it => it.getBoundingClientRect().width > 1)"
    checks.that(browser.ask(wide), "bars have a width")
    hidden = re.findall(r"hides (\d+) of (\d+) cycles", browser.ask("document.querySelector('#memory').textContent"))
    checks.that(hidden and all(int(hides) <= int(wants) for hides, wants in hidden), f"rings hide at most what there is: {hidden}")
    before = column(browser, "operations", 4)
    browser.ask("document.querySelectorAll('#operations th button')[4].click()")
    after = column(browser, "operations", 4)
    checks.that(sorted(map(int, before), reverse=True) == list(map(int, after)), "a click sorts, largest first")
    browser.ask("document.querySelectorAll('#operations th button')[4].click()")
    checks.that(sorted(map(int, before)) == list(map(int, column(browser, "operations", 4))), "a second turns it")
    checks.that(browser.ask("document.querySelectorAll('th[aria-sort=ascending]').length") == 1, "and is told")
    browser.ask("document.querySelector('#steady-state svg.bar').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    checks.that("cycles" in browser.ask("document.querySelector('#steady-state .detail').textContent"), "details")
    checks.that(browser.ask("document.querySelectorAll('#operations tr.lit').length") > 0, "the op is lit in the table")


def look_at_module(browser, checks):
    """A link from an op leads to its line of the module, which opens, also where it was closed; numbers are no text of it."""
    links = browser.ask("document.querySelectorAll('#operations td a').length")
    lost = "[...document.querySelectorAll('#operations td a')].filter(it => !document.querySelector(it.getAttribute('href'))).length"
    checks.that(links > 10 and browser.ask(lost) == 0, f"{links} links to lines, {browser.ask(lost)} of them lost")
    shown = "document.querySelector('#ttgir').open"
    checks.that(browser.ask(shown) is False, "the module is closed at first")
    browser.ask("document.querySelector('#operations td a').click()")
    checks.that(browser.ask(shown) is True, "a link opens it")
    op = browser.ask("document.querySelector('#operations td a').closest('tr').dataset.op")
    line = browser.ask("document.querySelector(':target').textContent")
    checks.that(re.search(f"// (issue|compute) {op}[ ,]", line), f"{op} is at {line}")
    browser.ask("document.querySelector('#ttgir').open = false; location.hash = ''")


def look_at_phone(browser, checks):
    """Nothing hangs over the edge of a phone, a screen or a sheet of paper, all parts open."""
    browser.ask("document.querySelectorAll('details').forEach(it => it.open = true)")
    for width, media in ((360, ""), (1280, ""), (718, "print")):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
        browser.call("Emulation.setEmulatedMedia", media=media, features=[])
        over = browser.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        checks.that(over <= 0, f"{over} pixels hang over at {width} {media}")
    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    browser.ask("document.querySelectorAll('details').forEach(it => it.open = false)")


def look_at_names(browser, checks):
    """A name in a bar is whole or hidden, on phones, screens and paper."""
    cut = """[...document.querySelectorAll('svg.bar text')].filter(it => getComputedStyle(it).display != 'none').filter(
      it => it.getBoundingClientRect().right > it.ownerSVGElement.querySelector('.fill').getBoundingClientRect().right + 1).map(it => it.textContent.trim())"""
    shown = "[...document.querySelectorAll('svg.bar text')].filter(it => getComputedStyle(it).display != 'none').length"
    counts = []
    for width, media in ((360, ""), (800, ""), (1280, ""), (718, "print")):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
        browser.call("Emulation.setEmulatedMedia", media=media, features=[])
        checks.that(browser.ask(cut) == [], f"names are cut at {width} {media}: {browser.ask(cut)[:5]}")
        counts.append(browser.ask(shown))
    checks.that(0 < counts[0] <= counts[1] <= counts[2], f"wider screens show as many names: {counts}")
    browser.call("Emulation.setEmulatedMedia", media="", features=[])


def look_at_colours(browser, checks):
    """The text is told from its ground in light, in dark and on the paper of those who prefer dark (WCAG's contrast, 4.5 for text)."""
    contrast = """(() => {
      const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => {
        v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
      const of = (selector, what) => getComputedStyle(document.querySelector(selector))[what];
      const ground = of('section', 'backgroundColor');
      return [of('h2', 'color'), of('.note', 'color'), of('.basis', 'color')].map(it => ratio(it, ground));
    })()"""
    for scheme, media in (("light", ""), ("dark", ""), ("dark", "print")):
        browser.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        checks.that(min(browser.ask(contrast)) >= 4.5, f"contrast in {scheme} {media}: {browser.ask(contrast)}")
    browser.call("Emulation.setEmulatedMedia", media="", features=[])


def look_at_paper(browser, checks, file):
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    file.write_bytes(pdf)
    checks.that(pdf.startswith(b"%PDF") and len(pdf) > 20000, "prints")


def make_pages(twill, folder):
    def run(*arguments):
        subprocess.run([twill, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    run("schedule", KERNEL, "--html", str(folder / "schedule.html"))
    run("explain", "loops/fwd_b1.loop", "--html", str(folder / "explain.html"))
    run("compare", "loops/fwd_h2.loop", "--html", str(folder / "compare.html"))
    run("simulate", KERNEL, "--html", str(folder / "simulate.html"))
    nasty = folder / "loops" / NASTY
    nasty.parent.mkdir()
    shutil.copy(ROOT / "loops/gemm.loop", nasty)
    run("schedule", str(nasty), "--html", str(folder / "nasty.html"))


def check_all(browser, folder, checks):
    wanted = {"schedule": SECTIONS, "explain": SECTIONS | {"changes"}, "compare": SECTIONS | {"strategies"},
              "simulate": SECTIONS, "nasty": SECTIONS - {"waits"}}
    for name, parts in wanted.items():
        browser.open(folder / f"{name}.html")
        checks.that(sections(browser) >= parts, f"{name} lacks {parts - sections(browser)}")
        checks.that(browser.ask("document.title") != "owned" and browser.ask("document.images.length") == 0, name + " owned")
        said = browser.ask("document.querySelector('#operations').textContent")
        module = browser.ask("document.querySelectorAll('#ttgir .module span').length")
        checks.that(module > 100 if name in ("schedule", "simulate") else "No kernel is printed" in said, f"{name} has {module} lines of a module")
        if name != "nasty":
            checks.that("Triton" in browser.ask("document.querySelector('#verdict').textContent"), f"{name} lacks Triton's figure")
        look_at_phone(browser, checks)
        look_at_names(browser, checks)
        look_at_colours(browser, checks)
        if name == "compare":
            said = browser.ask("document.querySelector('#strategies').textContent")
            checks.that("as Triton compiles the kernel itself" in said, "compare says which row of Triton's is which")
        if name == "schedule":
            look_at_schedule(browser, checks)
            look_at_module(browser, checks)
            look_at_paper(browser, checks, folder / "schedule.pdf")
        for complaint in browser.complaints():
            checks.that(False, f"{name}: {complaint}")
    checks.that(NASTY in browser.ask("document.querySelector('dl.about').textContent"), "the name is shown as it is")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--twill", required=True)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"))), None)
    if not program:
        print("skipped: there is no Chromium here (Debian: apt-get install chromium-headless-shell)")
        sys.exit(77)
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.keep or pathlib.Path(name) / "pages"
        folder.mkdir(parents=True, exist_ok=True)
        make_pages(arguments.twill, folder)
        browser = Browser(program, pathlib.Path(name) / "profile")
        check_all(browser, folder.resolve(), checks)
        browser.close()
    for failure in checks.failed:
        print("failed:", failure)
    sys.exit(1 if checks.failed else 0)


main()
