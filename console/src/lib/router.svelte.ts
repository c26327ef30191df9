export { match, type Match, type Route } from "./match";

/** Where the built files are served from. */
export const base = "/console";

/** The address of the page, as state. The subject that one acts for ("as") goes along from view to view. */
class Router {
  path = $state(own(location.pathname));
  query = $state.raw(new URLSearchParams(location.search));

  constructor() {
    addEventListener("popstate", () => this.#read());
  }

  /** Query parameters that a value was given for, and "as". Empty values leave the parameter out. */
  href(path: string, query: Record<string, string | number | boolean | undefined> = {}): string {
    const q = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "" && value !== false) q.set(name, String(value));
    const as = this.query.get("as");
    if (as && !("as" in query)) q.set("as", as);
    const s = q.toString();
    return base + path + (s ? "?" + s : "");
  }

  go(href: string, how: { replace?: boolean } = {}): void {
    if (how.replace) history.replaceState(null, "", href);
    else history.pushState(null, "", href);
    this.#read();
  }

  /** The parameter of this view's address, or the default. */
  get(name: string, otherwise = ""): string {
    return this.query.get(name) ?? otherwise;
  }

  /** Changes parameters of this view's address. By default no step of the browser's history. */
  set(changes: Record<string, string | number | boolean | undefined>, how: { replace?: boolean } = { replace: true }): void {
    const now = Object.fromEntries(this.query.entries());
    this.go(this.href(this.path, { ...now, ...changes }), how);
  }

  #read(): void {
    const path = own(location.pathname);
    if (path !== this.path) this.path = path;
    if (location.search.replace(/^\?/, "") !== this.query.toString()) this.query = new URLSearchParams(location.search);
  }
}

function own(pathname: string): string {
  return (pathname.startsWith(base) ? pathname.slice(base.length) : pathname).replace(/\/+$/, "") || "/";
}

export const router = new Router();

/** Follows links to views without loading the page anew; everything else is the browser's. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  // By its attributes: those of a link in a drawing are objects where they are properties.
  const link = (event.target as Element).closest?.("a[href]");
  const href = link?.getAttribute("href") ?? "";
  // A place of this page is the browser's to go to, and to put the keyboard at.
  if (!link || href.startsWith("#") || link.getAttribute("target") || link.hasAttribute("download")) return;
  const to = new URL(href, location.href);
  if (to.origin !== location.origin || (to.pathname !== base && !to.pathname.startsWith(base + "/"))) return;
  event.preventDefault();
  if (to.pathname + to.search !== location.pathname + location.search) router.go(to.pathname + to.search);
}
