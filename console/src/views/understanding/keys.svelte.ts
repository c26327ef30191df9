const kept = "orgmem.keys";

/** Whether single letters decide. Somebody who dictates, or whose hand slips, turns that off. */
class Keys {
  on = $state(localStorage.getItem(kept) !== "off");

  choose(on: boolean): void {
    this.on = on;
    if (on) localStorage.removeItem(kept);
    else localStorage.setItem(kept, "off");
  }
}

export const keys = new Keys();

/** Whether a key press means the view, and not a field, a menu or the browser. */
export function meansView(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const at = event.target as Element | null;
  if (document.querySelector("dialog[open]")) return false;
  return !at?.closest("input, textarea, select, [contenteditable]");
}
