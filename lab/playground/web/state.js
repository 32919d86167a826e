/*
 * state.js - all that is chosen, and the same as the part of the page's address behind the #: a link
 * to it shows what one sees oneself.
 *
 * An address may come from anywhere: what it names that is not there is passed over.
 */

export const SIDES = ["a", "b"];
/* Operations a second; the last: as fast as can be. */
export const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, Infinity];
export const BITS = { least: 1, most: 20 };
const FORMULAS = {
	page: "top((inode / 64 + offset / 4096) * golden)",
	buffer: "block * 9",
	inode: "top(number * golden)",
	dentry: "mixed = hash + parent / 64;\nmixed ^ mixed >> bits",
	swap: "slot ^ slot >> bits",
	path: "index ^ index >> 12",
};

/* The table in which each object would have about a bucket of its own. */
export function fittingBits(objects) {
	return Math.min(Math.max(Math.round(Math.log2(Math.max(objects, 2))), 4), 16);
}

/* The state that a page begins with. @page: what it holds (page.py): plugins, streams. */
export function firstState(page) {
	const state = {
		stream: page.streams[0].name, cache: "dentry", at: 0, speed: 500, pair: false,
		formulas: { ...FORMULAS }, a: {}, b: {},
	};
	state.a = firstChoice(page, state, "a");
	state.b = firstChoice(page, state, "b");
	return state;
}

/* The stream @name, as the page holds it. */
export const streamNamed = (page, name) => page.streams.find((one) => one.name === name);

/* Does the stream @name have keys of @cache? */
export const hasKeys = (page, name, cache) => Object.hasOwn(streamNamed(page, name).objects, cache);

/* A cache that the stream @name has keys of: @cache, if it has. */
export function cacheOf(page, name, cache) {
	return hasKeys(page, name, cache) ? cache : Object.keys(streamNamed(page, name).objects).at(-1);
}

/* A stream that has keys of @cache: @name, if it has. */
export function streamOf(page, name, cache) {
	return hasKeys(page, name, cache) ? name : page.streams.find((one) => hasKeys(page, one.name, cache))?.name ?? name;
}

/* What a side begins with, in the state's cache and stream. */
export function firstChoice(page, state, side) {
	const { caches, defaults } = page.plugins, second = side === "b" && "linux-2.2" in caches[state.cache].functions;
	return {
		function: second ? "linux-2.2" : defaults[state.cache], structure: "chained", word: second ? 32 : 64,
		bits: fittingBits(streamNamed(page, state.stream).objects[state.cache]),
		names: second && "linux-2.2" in page.plugins.names ? "linux-2.2" : defaults.name,
	};
}

/* @choice as far as it can be made in @cache: false if a name is not there. */
export function isPossible(page, cache, choice) {
	const { functions, structures } = page.plugins.caches[cache];
	return (choice.function === "formula" || Object.hasOwn(functions, choice.function)) && Object.hasOwn(structures, choice.structure)
		&& Object.hasOwn(page.plugins.names, choice.names) && (choice.word === 32 || choice.word === 64)
		&& Number.isInteger(choice.bits) && choice.bits >= BITS.least && choice.bits <= BITS.most;
}

const CHOICE = ["function", "structure", "bits", "word", "names"];

/* The address's part for @state. */
export function addressOf(state) {
	const part = new URLSearchParams({ stream: state.stream, cache: state.cache, at: state.at, speed: state.speed });
	for (const side of state.pair ? SIDES : ["a"]) part.set(side, CHOICE.map((name) => state[side][name]).join(","));
	const shown = state.pair ? [state.a, state.b] : [state.a];
	if (shown.some((one) => one.function === "formula")) part.set("formula", state.formulas[state.cache]);
	return `#${part}`;
}

/* The state that the address's part @text describes. */
export function stateOf(text, page) {
	const part = new URLSearchParams(text.replace(/^#/, "")), state = firstState(page);
	if (Object.hasOwn(page.plugins.caches, part.get("cache"))) state.cache = part.get("cache");
	const chosen = streamNamed(page, part.get("stream"));
	if (chosen) state.stream = chosen.name;
	state.cache = cacheOf(page, state.stream, state.cache);
	const speed = Number(part.get("speed")), at = Number(part.get("at"));
	if (SPEEDS.includes(speed)) state.speed = speed;
	if (Number.isInteger(at) && at > 0) state.at = at;
	if (part.has("formula")) state.formulas[state.cache] = part.get("formula").slice(0, 2000);
	for (const side of SIDES) {
		state[side] = firstChoice(page, state, side);
		const words = (part.get(side) ?? "").split(",");
		const choice = { function: words[0], structure: words[1], bits: Number(words[2]), word: Number(words[3]), names: words[4] };
		if (isPossible(page, state.cache, choice)) state[side] = choice;
	}
	state.pair = part.has("b");
	return state;
}
