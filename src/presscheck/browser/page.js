"use strict";
// textual.js, which runs before, opens the terminal when the page has loaded
addEventListener("error", (event) => {
  if (event instanceof ErrorEvent) {
    document.body.classList.add("-failed");
  }
});

// keys go to the app without a click; the app takes the focus only once it runs
function focusTerminal() {
  document.querySelector(".xterm-helper-textarea")?.focus();
}
new MutationObserver((_, observer) => {
  if (document.body.classList.contains("-first-byte")) {
    observer.disconnect();
    document.activeElement?.blur();
    focusTerminal();
  }
}).observe(document.body, { attributeFilter: ["class"] });
addEventListener("focus", focusTerminal);

document.getElementById("again").addEventListener("click", () => location.reload());
