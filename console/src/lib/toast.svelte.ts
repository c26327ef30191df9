/** A short message at the edge of the page, which a screen reader says aloud. */
export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
}

const atMost = 4;
const shownFor = 6_000; // milliseconds

class Toasts {
  list = $state.raw<Toast[]>([]);
  #next = 1;

  say(text: string, tone: Toast["tone"] = "plain"): void {
    const toast = { id: this.#next++, text, tone };
    this.list = [...this.list, toast].slice(-atMost);
    setTimeout(() => this.drop(toast.id), shownFor);
  }

  drop(id: number): void {
    this.list = this.list.filter((t) => t.id !== id);
  }
}

export const toasts = new Toasts();
