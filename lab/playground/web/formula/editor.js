/*
 * editor.js - the formula: checked as one types, with the place of what is wrong; as a header.
 */
import { compileFormula, headerOf } from "./emit.js";
import { CONSTANTS, FormulaError, FUNCTIONS, KEYS, parseFormula } from "./formula.js";
import { element } from "../drawing.js";

/* What a kernel needs besides that has a table of this cache. */
const NEEDED = { swap: "--set SWAP=y --set SWAP_TABLE=chained ", path: "--defconfig tsai " };
const PATIENCE = 250; /* milliseconds after the last key until what is typed is taken */

export class Editor {
	/* @root: the section. @onText(text): something was typed. @onFormula(): and is a formula, and that was all. */
	constructor(root, onText, onFormula) {
		this.part = (name) => root.querySelector(`[data-part="${name}"]`);
		this.text = this.part("formula");
		this.text.addEventListener("input", () => {
			this.check();
			onText(this.text.value);
			clearTimeout(this.waiting);
			if (this.formula) this.waiting = setTimeout(onFormula, PATIENCE);
		});
		this.part("go").addEventListener("click", () => {
			this.text.focus();
			this.text.setSelectionRange(this.fault.from, this.fault.to);
		});
		this.part("download").addEventListener("click", () => this.download());
	}

	/* Show @text, a formula over @cache's key. */
	show(text, cache) {
		clearTimeout(this.waiting);
		this.compiled = null; /* else the last one without fault, while one types */
		this.cache = cache;
		this.text.value = text;
		const terms = KEYS[cache].concat([["bits", "the table has 2^bits buckets"]], Object.entries(CONSTANTS).map(([name, [, about]]) => [name, about]));
		this.part("names").replaceChildren(...terms.flatMap(([name, about]) => [element("dt", {}, element("code", {}, name)), element("dd", {}, about)]));
		const calls = Object.entries(FUNCTIONS).map(([name, [count, about]]) => [`${name}(${count === 1 ? "value" : "value, count"})`, about]);
		this.part("functions").replaceChildren(...calls.flatMap(([name, about]) => [element("dt", {}, element("code", {}, name)), element("dd", {}, about)]));
		this.check();
	}

	/* Is it a formula? Says so, or what is wrong where. */
	check() {
		this.formula = this.fault = null;
		try {
			this.formula = parseFormula(this.text.value, this.cache);
			this.compiled = compileFormula(this.formula);
		} catch (error) {
			if (!(error instanceof FormulaError)) throw error;
			this.fault = error;
		}
		const wrong = this.fault !== null;
		this.text.setAttribute("aria-invalid", String(wrong));
		this.part("fault").hidden = !wrong;
		this.part("fine").hidden = wrong;
		this.part("download").disabled = this.part("judge").disabled = this.part("use").disabled = wrong;
		if (wrong) this.sayFault();
	}

	/* The line, what is wrong in it marked, and the sentence. */
	sayFault() {
		const { from, to, message } = this.fault, text = this.text.value;
		const begin = text.lastIndexOf("\n", from - 1) + 1, line = text.slice(0, begin).split("\n").length;
		const next = text.indexOf("\n", from), stop = next < 0 ? text.length : next;
		const mark = element("mark", {}, text.slice(from, Math.min(to, stop)) || " ");
		this.part("line").replaceChildren(text.slice(begin, from), mark, text.slice(Math.min(to, stop), stop));
		this.part("message").textContent = `Line ${line}, column ${from - begin + 1}: ${message}`;
	}

	/* The header, as a file of this computer. */
	download() {
		/* As files of hash/ are called. */
		const name = this.part("name").value.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^[^a-z]+|[^a-z0-9]+$/g, "") || "mine";
		this.part("name").value = name;
		const url = URL.createObjectURL(new Blob([headerOf(this.formula, name)], { type: "text/x-c" }));
		const link = element("a", { href: url, download: `${name}.h` });
		link.click();
		URL.revokeObjectURL(url);
		this.part("where").textContent = `Put ${name}.h into hash/${this.cache}/ and run: ./cw run ${NEEDED[this.cache] ?? ""}--set ${this.cache.toUpperCase()}_HASH=${name} -- find / -xdev`;
	}
}
