import type { Attachment } from "svelte/attachments";

/**
 * On a narrow screen a table is read row by row, each cell below the other with its column's title before it (app.css).
 * This gives the cells those titles, and says what a table is made of, which a browser forgets where the rows are blocks.
 */
export const stacked: Attachment<HTMLTableElement> = (table) => {
  table.classList.add("stacked");
  table.setAttribute("role", "table");
  const label = (): void => {
    const titles = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => (cell.querySelector(".visually-hidden") ? "" : (cell.textContent?.trim() ?? "")));
    for (const group of table.querySelectorAll("thead, tbody")) group.setAttribute("role", "rowgroup");
    for (const row of table.rows) {
      row.setAttribute("role", "row");
      [...row.cells].forEach((cell, i) => {
        cell.setAttribute("role", cell.tagName === "TD" ? "cell" : cell.scope === "row" ? "rowheader" : "columnheader");
        if (cell.tagName === "TD" && cell.dataset["column"] !== titles[i]) cell.dataset["column"] = titles[i] ?? "";
      });
    }
  };
  label();
  const observer = new MutationObserver(label);
  observer.observe(table, { childList: true, subtree: true });
  return () => observer.disconnect();
};
