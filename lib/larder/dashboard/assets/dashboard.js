// Refreshes the overview, and sorts tables by their headings. Everything works without it.
"use strict";

(() => {
  // "3h12m" is the sum of its parts.
  const number = (text) => {
    const span = text.match(/^\D*(\d+)([dh])(\d+)([hm])/);
    if (span) return number(span[1] + span[2]) + number(span[3] + span[4]);
    const match = text.replace(/,/g, "").match(/-?\d+(\.\d+)?/);
    if (!match) return null;
    const factor = { k: 1e3, K: 1024, M: 1048576, G: 1073741824, T: 1099511627776, ms: 1e-3, m: 60, h: 3600, d: 86400 };
    const unit = text.slice(text.indexOf(match[0]) + match[0].length).match(/^\s*(ms|[kKMGTmhd])/);
    return Number(match[0]) * (unit ? factor[unit[1]] : 1);
  };

  const sort = (table, column, heading) => {
    const descending = heading.getAttribute("aria-sort") !== "descending";
    table.querySelectorAll("thead th").forEach((each) => each.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const numeric = heading.classList.contains("number");
    const value = (row) => {
      const cell = row.children[column];
      if (cell.dataset.sort) return Number(cell.dataset.sort);
      return numeric ? number(cell.textContent) ?? -Infinity : cell.textContent;
    };
    const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
    const body = table.tBodies[0];
    [...body.rows]
      .map((row) => [value(row), row])
      .sort((a, b) => compare(a[0], b[0]) * (descending ? -1 : 1))
      .forEach(([, row]) => body.append(row));
  };

  const makeSortable = (root) => {
    root.querySelectorAll("table[data-sortable]").forEach((table) => {
      table.querySelectorAll("thead th").forEach((heading, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...heading.childNodes);
        button.addEventListener("click", () => sort(table, column, heading));
        heading.append(button);
      });
    });
  };

  // Keeps open what the reader has opened.
  const refresh = async (live) => {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById(live.id);
    if (!next) throw new Error("the page has changed");
    const open = [...live.querySelectorAll("details")].map((each) => each.open);
    next.querySelectorAll("details").forEach((each, index) => { each.open = open[index] || false; });
    makeSortable(next);
    live.replaceChildren(...next.childNodes);
  };

  const offerRefresh = (live) => {
    const button = document.createElement("button");
    let timer = null;
    button.type = "button";
    button.className = "live";
    button.textContent = "Live";
    button.title = `Reads the figures every ${live.dataset.refresh} seconds`;
    button.setAttribute("aria-pressed", "false");
    const stop = () => {
      clearInterval(timer);
      timer = null;
      button.setAttribute("aria-pressed", "false");
    };
    const start = () => {
      button.setAttribute("aria-pressed", "true");
      timer = setInterval(() => {
        const reading = live.contains(document.activeElement);
        if (!document.hidden && !reading) refresh(live).catch(stop);
      }, Number(live.dataset.refresh) * 1000);
    };
    button.addEventListener("click", () => (timer ? stop() : start()));
    document.querySelector("h1").append(button);
  };

  makeSortable(document);
  const live = document.getElementById("live");
  if (live) offerRefresh(live);
})();
