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
