"use strict";
(() => {
	// The theme: the system's until the button says otherwise; remembered where the browser lets a file remember.
	const root = document.documentElement;
	const button = document.getElementById("theme");
	const system = window.matchMedia("(prefers-color-scheme: dark)");
	const remember = (theme) => { try { localStorage.setItem("chainwalk-theme", theme); } catch { /* only for this view */ } };
	const remembered = () => { try { return localStorage.getItem("chainwalk-theme"); } catch { return null; } };
	const current = () => root.dataset.theme || (system.matches ? "dark" : "light");
	const show = () => { button.textContent = current() === "dark" ? "Light theme" : "Dark theme"; };
	if (["dark", "light"].includes(remembered())) root.dataset.theme = remembered();
	button.addEventListener("click", () => {
		root.dataset.theme = current() === "dark" ? "light" : "dark";
		remember(root.dataset.theme);
		show();
	});
	system.addEventListener("change", show);
	button.hidden = false;
	show();

	// Tables sort by a click on a column's name: numbers by data-value, words as they stand, each group by itself.
	const key = (row, column) => {
		const cell = row.cells[column];
		if (!cell) return "";
		return "value" in cell.dataset ? (cell.dataset.value === "" ? NaN : Number(cell.dataset.value)) : cell.textContent.trim();
	};
	const order = (a, b) => {
		if (typeof a !== "number" || typeof b !== "number") return String(a).localeCompare(String(b), "en", { numeric: true });
		return Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b;
	};
	for (const table of document.querySelectorAll("table.sortable")) {
		const heads = [...table.tHead.rows[0].cells];
		heads.forEach((head, column) => {
			const click = document.createElement("button");
			click.type = "button";
			click.append(...head.childNodes);
			head.append(click);
			click.addEventListener("click", () => {
				const down = head.getAttribute("aria-sort") === "ascending";
				heads.forEach((other) => other.setAttribute("aria-sort", "none"));
				head.setAttribute("aria-sort", down ? "descending" : "ascending");
				for (const body of table.tBodies) {
					const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
					const known = rows.filter((row) => !Number.isNaN(key(row, column)));
					known.sort((a, b) => (down ? -1 : 1) * order(key(a, column), key(b, column)));
					body.append(...known, ...rows.filter((row) => !known.includes(row)));
				}
			});
		});
	}

	// The list of runs shows those that have all the words.
	for (const label of document.querySelectorAll(".filter")) {
		const rows = [...label.parentElement.querySelectorAll("table.list tbody tr")];
		label.hidden = false;
		label.querySelector("input").addEventListener("input", (event) => {
			const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
			for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
		});
	}

	// A link into what is folded opens it; printing opens all but the logs.
	const unfold = () => {
		const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (!target) return;
		for (let one = target.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
		target.scrollIntoView();
	};
	window.addEventListener("hashchange", unfold);
	unfold();
	window.addEventListener("beforeprint", () => {
		for (const one of document.querySelectorAll("details:not(.faults details)")) one.open = true;
	});
})();
