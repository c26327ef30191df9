export type Choice = "system" | "light" | "dark";
const kept = "orgmem.theme";

/** Light or dark: as the system says, unless the person says otherwise. */
class Theme {
  choice = $state<Choice>("system");
  readonly #wish = matchMedia("(prefers-color-scheme: dark)");
  /** What the system wishes; it may change while the page is open. */
  #system = $state(this.#wish.matches);

  constructor() {
    this.#wish.addEventListener("change", () => (this.#system = this.#wish.matches));
    const before = localStorage.getItem(kept);
    if (before === "light" || before === "dark") this.choice = before;
    this.#apply();
  }

  choose(choice: Choice): void {
    this.choice = choice;
    if (choice === "system") localStorage.removeItem(kept);
    else localStorage.setItem(kept, choice);
    this.#apply();
  }

  /** Whether dark is shown now; for canvases, which no style sheet reaches. */
  get dark(): boolean {
    return this.choice === "dark" || (this.choice === "system" && this.#system);
  }

  #apply(): void {
    if (this.choice === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = this.choice;
  }
}

export const theme = new Theme();
