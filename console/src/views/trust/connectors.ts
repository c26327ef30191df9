import type { Connector, NewConnector } from "orgmem";

export type Kind = Connector["type"];
export const kinds: readonly { id: Kind; title: string; about: string }[] = [
  { id: "feed", title: "Feed", about: "The entries of an RSS, Atom or JSON feed." },
  { id: "web", title: "Web pages", about: "The pages of a site’s sitemap, or of a list." },
  { id: "git", title: "Repository", about: "Markdown and other texts of a git repository over HTTPS." },
];

/** What a person fills in; each kind uses some of it. */
export interface Draft {
  kind: Kind;
  name: string;
  url: string;
  /** One address a line. */
  pages: string;
  list: "sitemap" | "pages";
  branch: string;
  path: string;
  secret: string;
  hours: number;
}
export const empty: Draft = { kind: "feed", name: "", url: "", pages: "", list: "sitemap", branch: "", path: "", secret: "", hours: 1 };

/** The fields that the chosen kind has, without those that were left empty. */
export function request(draft: Draft): NewConnector {
  const given = (fields: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(fields).map(([k, v]) => [k, v.trim()]).filter(([, v]) => v !== ""));
  const { kind, url, secret, branch, path } = draft;
  const config =
    kind === "feed"
      ? given({ url, authorization: secret })
      : kind === "git"
        ? given({ url, branch, path, token: secret })
        : draft.list === "pages"
          ? { pages: draft.pages.split("\n").map((p) => p.trim()).filter(Boolean), ...given({ authorization: secret }) }
          : given({ sitemap: url, authorization: secret });
  // The document describes config by its kind, which the generated type cannot tie to it.
  return { type: kind, name: draft.name, intervalSeconds: Math.round(draft.hours * 3_600), config } as unknown as NewConnector;
}

/** How often, in words. */
export function every(seconds: number): string {
  for (const [unit, size] of [["day", 86_400], ["hour", 3_600], ["minute", 60]] as const)
    if (seconds >= size && seconds % size === 0) return seconds === size ? `every ${unit}` : `every ${seconds / size} ${unit}s`;
  return `every ${seconds} seconds`;
}

/** Where it fetches from, for a person. */
export function source(connector: Connector): string {
  const { url, sitemap, pages } = connector.config as { url?: unknown; sitemap?: unknown; pages?: unknown };
  if (typeof url === "string") return url;
  if (typeof sitemap === "string") return sitemap;
  return Array.isArray(pages) ? pages.map(String).join("\n") : "";
}
