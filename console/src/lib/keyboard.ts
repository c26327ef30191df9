/** Whether a key press means the view, and not a field, a menu or the browser. */
export function meansView(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const at = event.target as Element | null;
  if (document.querySelector("dialog[open]")) return false;
  return !at?.closest("input, textarea, select, [contenteditable]");
}
