// What pages can do beyond forms and links: copy, try a call, and send a form once. Everything works without it.
"use strict";

document.documentElement.classList.add("js");

const copied = new Map(); // what a button says at rest, and the clock that brings that back
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  if (!copied.has(button)) copied.set(button, { label: [...button.childNodes] });
  const rest = copied.get(button);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl+C";
  }
  clearTimeout(rest.clock);
  rest.clock = setTimeout(() => button.replaceChildren(...rest.label), 1800);
});

// A second click sends nothing more. The back button gives the form back.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "1";
  setTimeout(() => { delete form.dataset.sent; }, 8000);
});
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// On a narrow screen, the links beside a page are a row that scrolls: it begins at the page that is open.
for (const link of document.querySelectorAll(".side [aria-current]")) {
  const row = link.closest("ul");
  row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
}

// Try it: the key stays in this page; it is sent nowhere but to this API.
for (const form of document.querySelectorAll("form.try-form")) {
  let asking;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    asking?.abort(); // the newest question alone is answered
    asking = new AbortController();
    const { signal } = asking;
    const output = form.querySelector("output");
    const key = document.getElementById("try-key").value.trim();
    let path = form.dataset.path;
    const query = new URLSearchParams();
    for (const input of form.querySelectorAll("[data-in]")) {
      const value = input.value.trim();
      if (!value) continue;
      if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(value));
      else query.set(input.name, value);
    }
    const address = path + (query.size ? "?" + query : "");
    const head = document.createElement("p");
    const body = document.createElement("pre");
    head.className = "small soft";
    body.tabIndex = 0;
    output.replaceChildren(head);
    if (!/^[!-~]*$/.test(key)) { // no header can hold it
      head.textContent = "This is not a complete key. Paste the whole key, as it was shown when it was created. If you no longer have it, create a new one.";
      return;
    }
    head.textContent = "Asking…";
    try {
      const answer = await fetch(address, { headers: key ? { "X-API-Key": key } : {}, cache: "no-store", signal });
      const text = await answer.text();
      const left = answer.headers.get("X-RateLimit-Remaining");
      head.textContent = `GET ${address} → ${answer.status}${left ? `, ${left} ${left === "1" ? "request" : "requests"} left today` : ""}`;
      body.textContent = pretty(text);
    } catch {
      if (signal.aborted) return;
      head.textContent = "The API could not be reached. Check your connection.";
      return;
    }
    output.append(body);
  });
}

function pretty(text) {
  try {
    const out = JSON.stringify(JSON.parse(text), null, 2).replace(/\[\s+((?:"[^"]*",?\s*)+)\]/g, (_, list) => `[${list.trim().replace(/\s+/g, " ")}]`);
    return out.length > 20000 ? out.slice(0, 20000) + "\n…" : out;
  } catch {
    return text.slice(0, 20000);
  }
}
