const kept = "orgmem.tour";

/** One step of the tour: where it is shown, and where it leads. */
export interface Step {
  title: string;
  text: string;
  /** The view that it is about. */
  path: string;
  link: string;
}

export const steps: readonly Step[] = [
  { title: "Put something in", text: "Drop a folder of your own notes, minutes or mails on the start page. If you have none at hand, the sample data will do, and go again with one click.", path: "/", link: "Go to the start" },
  { title: "Ask", text: "Ask something that stands in what you have put in. The answer is taken from your own words, and says from which.", path: "/", link: "Ask" },
  { title: "See why", text: "Every hit can say why it is there: press “Why this one?” to see what its meaning counted, what its words, and what the brain made of it.", path: "/search", link: "See the hits" },
  { title: "What contradicts", text: "A few seconds after the last text the service compares what is new with everything. Where two texts do not agree, it shows both.", path: "/understanding/contradictions", link: "Look at contradictions" },
  { title: "How it hangs together", text: "People, places and projects that your texts name, and what connects them.", path: "/graph", link: "Open the graph" },
  { title: "Change your mind", text: "Any text can be corrected, replaced or forgotten. What is forgotten is gone, also from every answer.", path: "/memory/documents", link: "Open the documents" },
];

/** The tour through somebody's own memory: at which step it is, or that it is over. Remembered by the browser. */
class Tour {
  step = $state(0);
  over = $state(false);
  /** What to ask about one's own texts; the start page finds one. */
  question = $state("");

  constructor() {
    const before = localStorage.getItem(kept);
    if (before === "over") this.over = true;
    else if (before) this.step = Math.min(steps.length - 1, Math.max(0, Number(before) || 0));
  }

  go(step: number): void {
    if (step >= steps.length) return this.end();
    this.step = Math.max(0, step);
    localStorage.setItem(kept, String(this.step));
  }

  end(): void {
    this.over = true;
    localStorage.setItem(kept, "over");
  }

  again(): void {
    this.over = false;
    this.go(0);
  }
}

export const tour = new Tour();
