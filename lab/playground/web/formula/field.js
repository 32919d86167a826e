/*
 * field.js - the judgement: a formula among all functions of its cache, on all streams.
 */
import { Engine } from "../engine.js";
import { element, grouped } from "../drawing.js";

const pause = () => new Promise((go) => setTimeout(go));

/*
 * Every function of @cache and @formula (compiled) on each of @streams (stream.js; all have its keys),
 * in chains of 2^@choice.bits buckets. Calls @onProgress(done, of). Returns rows, best first:
 * {name, steps: [a lookup, by stream], z: [by stream], rank, score}; the score is the mean over
 * the streams of steps by those of the best there.
 */
export async function judge(module, plugins, streams, cache, choice, formula, onProgress) {
	const engine = new Engine(module, plugins), names = ["formula", ...Object.keys(plugins.caches[cache].functions)];
	const rows = names.map((name) => ({ name, steps: [], z: [] }));
	let done = 0;
	for (const { header, caches } of streams) {
		engine.load(caches[cache], header.seed);
		for (const row of rows) {
			engine.begin({ ...choice, function: row.name, structure: "chained" }, formula);
			engine.run(caches[cache].until);
			const report = engine.report();
			row.steps.push(report.steps_per_lookup);
			row.z.push(report.bucket_fit.z);
			onProgress(++done, rows.length * streams.length);
			await pause();
		}
	}
	streams.forEach((_, i) => {
		const best = Math.min(...rows.map((row) => row.steps[i]));
		for (const row of rows) row.score = (row.score ?? 0) + (best ? row.steps[i] / best : 1) / streams.length;
	});
	rows.sort((a, b) => a.score - b.score);
	for (const row of rows) row.rank = 1 + rows.filter((other) => other.score < row.score).length;
	return rows;
}

/* The rows in a table's body, the formula's own marked; above them in @heads what a column is of, streams by @names. */
export function showField(heads, body, names, rows) {
	heads.replaceChildren(...["rank", "function", "score", ...names].map((name) => element("th", { scope: "col" }, name)));
	const worst = Math.max(...rows.map((row) => row.score));
	body.replaceChildren(...rows.map((row) => {
		const mine = row.name === "formula";
		const bar = element("span", { class: "track", "aria-hidden": "true" }, element("span", { style: `width:${(100 * Math.log(row.score * 1.02)) / Math.log(worst * 1.02 + 1e-9)}%` }));
		const cells = [
			element("td", {}, String(row.rank)),
			element("th", { scope: "row" }, mine ? "your formula" : row.name),
			element("td", { class: "score" }, row.score.toFixed(3), bar),
			...row.steps.map((steps, i) => element("td", { title: `z ${row.z[i].toFixed(1)}` }, steps.toFixed(3))),
		];
		return element("tr", mine ? { class: "mine" } : {}, ...cells);
	}));
}

/* The judgement in a sentence. */
export function verdictOf(rows, bits) {
	const mine = rows.find((row) => row.name === "formula");
	const like = mine.score < 1.02 ? "No function of the field is better." : `It visits ${mine.score.toFixed(2)} times the objects that the best would.`;
	return `Your formula is number ${mine.rank} of ${rows.length} with ${grouped(2 ** bits)} buckets. ${like}`;
}
