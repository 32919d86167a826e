/*
 * panel.js - one choice of function, structure and size, and what came of it so far: its buckets, the
 * chain of the last lookup, its histogram and figures.
 */
import { Engine } from "./engine.js";
import { FIND, FOUND, INSERT, LOOK, REMOVE } from "./stream.js";
import { BITS } from "./state.js";
import { drawBuckets, drawChain, drawHistogram, element, grouped, histogramRows, keyText } from "./drawing.js";

const KINDS = { [FIND]: "Lookup", [LOOK]: "Second look", [INSERT]: "Insert", [REMOVE]: "Remove" };
const ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth"];

export class Panel {
	/*
	 * @root: a copy of the template. @page: what the page holds. @onChoice: called with a choice that
	 * somebody made here.
	 */
	constructor(root, page, module, onChoice) {
		this.root = root;
		this.page = page;
		this.engine = new Engine(module, page.plugins);
		this.part = (name) => root.querySelector(`[data-part="${name}"]`);
		for (const control of root.querySelectorAll("[data-choice]")) {
			control.addEventListener(control.type === "range" ? "input" : "change", () => onChoice(this.chosen()));
		}
		this.part("size").min = BITS.least;
		this.part("size").max = BITS.most;
	}

	/* The choice that the controls show. */
	chosen() {
		const given = Object.fromEntries([...this.root.querySelectorAll("[data-choice]")].map((one) => [one.dataset.choice, one.value]));
		return { ...given, bits: Number(given.bits), word: Number(given.word) };
	}

	/* Take a cache of a stream (stream.js). */
	load(cache, seed) {
		this.engine.load(cache, seed);
		this.cache = cache.name;
		const { functions, structures } = this.page.plugins.caches[cache.name];
		this.offer("function", ["formula", ...Object.keys(functions)]);
		this.offer("structure", Object.keys(structures));
		this.offer("names", Object.keys(this.page.plugins.names));
		this.part("names-label").hidden = cache.name !== "dentry";
	}

	offer(choice, names) {
		const options = names.map((name) => element("option", { value: name }, name === "formula" ? "your formula" : name));
		this.root.querySelector(`[data-choice="${choice}"]`).replaceChildren(...options);
	}

	/* Begin with @choice, before the first operation. */
	begin(choice, formula) {
		for (const control of this.root.querySelectorAll("[data-choice]")) control.value = choice[control.dataset.choice];
		this.engine.begin(choice, formula);
		const trees = (this.trees = "trees" in this.engine.report()); /* then there is no function, and no size */
		for (const name of ["size", "function", "word"]) this.part(name).disabled = trees;
		this.part("buckets-said").textContent = trees ? this.tree("a tree for each file", "one tree") : grouped(2 ** choice.bits);
		this.part("size").setAttribute("aria-valuetext", `${grouped(2 ** choice.bits)} buckets`);
		this.part("about").textContent = this.about(choice);
	}

	about(choice) {
		const { functions, structures } = this.page.plugins.caches[this.cache];
		const ofStructure = structures[choice.structure].about;
		if (this.trees) return ofStructure;
		const ofFunction = choice.function === "formula" ? "What is typed below." : functions[choice.function].about;
		return choice.structure === "chained" ? ofFunction : `${ofFunction} In ${choice.structure}: ${ofStructure}`;
	}

	/* Of trees: pages have one for each file, and swap has one. */
	tree(ofFiles, one) {
		return this.cache === "page" ? ofFiles : one;
	}

	/* Draw all of it as it is now; while it plays without the words for a screen reader. */
	draw() {
		const at = this.engine.position, trace = at ? this.engine.trace(at - 1) : null;
		const report = this.engine.report(), trees = this.trees;
		const sizes = this.engine.sizes();
		const together = drawBuckets(this.part("buckets"), sizes, trace && !trees && KINDS[trace.kind & 7] ? trace.bucket : null);
		const unit = trees ? "tree" : "bucket";
		this.part("together").textContent = together === 1 ? `A cell is a ${unit}` : `A cell is ${together} ${unit}s, in the colour of the fullest`;
		this.part("buckets").setAttribute("aria-label", `${grouped(sizes.length)} ${unit}s, ${grouped(report.empty)} of them empty, the fullest with ${report.largest} objects`);
		drawHistogram(this.part("histogram"), report);
		this.part("rows").replaceChildren(...histogramRows(report).map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell)))));
		this.drawWalk(trace, trees);
		this.drawFigures(report);
		this.report = report;
	}

	drawWalk(trace, trees) {
		const list = this.part("chain");
		if (!trace || !KINDS[trace.kind & 7]) {
			this.part("walk").textContent = "Press Play, or Step for one operation.";
			list.replaceChildren();
			return;
		}
		const found = (trace.kind & FOUND) !== 0;
		drawChain(list, trace, this.cache, found);
		this.part("walk").textContent = this.sentence(trace, found, trees);
	}

	/* The operation in words. */
	sentence(trace, found, trees) {
		const kind = trace.kind & 7, key = keyText(this.cache, trace.key);
		const where = trees ? this.tree("the file's tree", "the tree") : `bucket ${grouped(trace.bucket)}`;
		if (kind === INSERT || kind === REMOVE) return `${KINDS[kind]} ${key}: ${where}.`;
		const number = ORDINALS[trace.walked] ? `the ${ORDINALS[trace.walked]}` : `number ${trace.walked}`;
		if (found) return `${KINDS[kind]} of ${key}: ${where}, found as ${number} visited.`;
		return `${KINDS[kind]} of ${key}: ${where}, not there; ${trace.walked} visited in vain.`;
	}

	drawFigures(report) {
		const number = (value, digits) => (value === undefined ? "–" : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
		const fit = report.bucket_fit ?? {}, put = (name, text) => (this.part(name).textContent = text);
		put("hit", number(report.steps_per_hit, 3));
		put("hit-chance", number(report.expected_steps_per_hit, 3));
		put("miss", number(report.steps_per_miss, 3));
		put("miss-chance", number(report.expected_steps_per_miss, 3));
		put("largest", grouped(report.largest));
		put("largest-chance", number(report.expected_largest, 0));
		put("chi2", number(fit.chi2, 1));
		put("freedom", number(fit.degrees_of_freedom, 0));
		put("z", number(fit.z, 2));
		put("q", number(report.dragon_q, 4));
		put("lookups", `${grouped(report.lookups)} lookups, ${number(report.hit_rate_percent, 1)} % hits`);
		put("objects", `${grouped(report.objects)} objects`);
		const word = verdict(report);
		put("verdict", word.text);
		this.part("verdict").className = `verdict ${word.tone}`;
	}
}

/* What z says, in words: beyond three it is no accident. */
function verdict(report) {
	if ("trees" in report) return { text: "a tree leaves nothing to chance", tone: "" };
	const z = report.bucket_fit?.degrees_of_freedom ? report.bucket_fit.z : null;
	if (z === null) return { text: "nothing to judge yet", tone: "" };
	if (z > 3) return { text: "clustered: worse than chance", tone: "worse" };
	if (z < -3) return { text: "more even than chance", tone: "better" };
	return { text: "as chance would spread them", tone: "even" };
}
