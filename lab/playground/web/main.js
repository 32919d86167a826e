/*
 * main.js - the page: what it holds is unpacked, the controls are bound to the state, and the state to
 * the panels.
 */
import { Editor } from "./formula/editor.js";
import { compileFormula, headerOf } from "./formula/emit.js";
import { Engine } from "./engine.js";
import { judge, showField, verdictOf } from "./formula/field.js";
import { parseFormula } from "./formula/formula.js";
import { Panel } from "./panel.js";
import { Player, speedText } from "./player.js";
import { addressOf, cacheOf, firstChoice, hasKeys, isPossible, SIDES, SPEEDS, stateOf, streamOf } from "./state.js";
import { CACHES, readStream } from "./stream.js";
import { element, grouped } from "./drawing.js";

const PATIENCE = 200; /* milliseconds until the address is that of what one sees */

const find = (id) => document.getElementById(id);
const bytesOf = (id) => Uint8Array.from(atob(find(id).textContent.trim()), (one) => one.charCodeAt(0));

class Playground {
	constructor(page, module) {
		this.page = page;
		this.module = module;
		this.streams = new Map(); /* by name, as they are asked for */
		this.panels = {};
		this.player = new Player((playing) => this.moved(playing), (error) => this.say(error.message));
		this.editor = new Editor(find("own"), (text) => (this.state.formulas[this.state.cache] = text), () => this.typed());
		for (const side of SIDES) this.addPanel(side);
	}

	addPanel(side) {
		const root = find("panel").content.firstElementChild.cloneNode(true);
		root.id = `side-${side}`;
		root.hidden = side === "b";
		root.querySelector("h2").append(element("span", { class: "hidden" }, "Choice "), side.toUpperCase());
		root.setAttribute("aria-label", `Choice ${side.toUpperCase()}`);
		find("panels").append(root);
		this.panels[side] = new Panel(root, this.page, this.module, (choice) => this.choose(side, choice));
	}

	/* ---- state ------------------------------------------------------------------------------- */

	get sides() {
		return this.state.pair ? SIDES : ["a"];
	}

	/* The stream @name, read once. */
	async stream(name) {
		if (!this.streams.has(name)) this.streams.set(name, readStream(bytesOf(`keys-${name}`)));
		return this.streams.get(name);
	}

	/* A stream of one's own, from ./cw record: as those that the page brings, but not in a link. */
	async open(file) {
		try {
			const stream = await readStream(new Uint8Array(await file.arrayBuffer()));
			const objects = Object.fromEntries(Object.keys(stream.caches).map((cache) => [cache, stream.header.caches[cache].objects]));
			const name = `own ${this.page.streams.length}`;
			this.page.streams.push({ name, about: file.name, objects, own: true });
			this.streams.set(name, Promise.resolve(stream));
			this.offerStream(name, file.name);
			await this.turnTo({ stream: name });
		} catch (error) {
			this.say(`${file.name}: ${error.message}`);
		}
		find("file").value = "";
	}

	offerStream(name, about) {
		find("stream").append(element("option", { value: name }, about));
	}

	/*
	 * Show @state from its first operation to its position. Its stream may have to be read first: until
	 * then all stays as it was, and what is asked for meanwhile is shown in its place.
	 */
	async show(state) {
		this.player.pause();
		this.wanted = state;
		const source = await this.stream(state.stream);
		if (this.wanted !== state) return;
		this.state = state;
		this.source = source;
		for (const radio of document.querySelectorAll('[name="cache"]')) radio.checked = radio.value === state.cache;
		find("stream").value = state.stream;
		find("pair").checked = state.pair;
		find("speed").value = SPEEDS.indexOf(state.speed);
		find("panels").classList.toggle("pair", state.pair);
		find("side-b").hidden = !state.pair;
		this.player.speed = state.speed;
		this.editor.show(state.formulas[state.cache], state.cache);
		this.withoutFaultyFormula();
		find("field").hidden = true;
		for (const side of this.sides) this.panels[side].load(this.source.caches[state.cache], this.source.header.seed);
		this.restart(state.at);
	}

	/* A link may bring a formula that is none: then it is watched by nobody. */
	withoutFaultyFormula() {
		if (this.editor.compiled) return;
		for (const side of SIDES) {
			if (this.state[side].function === "formula") this.state[side] = firstChoice(this.page, this.state, side);
		}
	}

	/* All panels before their first operation, then on to @position. */
	restart(position) {
		this.beginPanels();
		const { until } = this.source.caches[this.state.cache];
		find("position").max = until;
		this.player.begin(this.sides.map((side) => this.panels[side].engine), until, position);
		this.moved(this.player.playing);
	}

	beginPanels() {
		this.say("");
		for (const side of this.sides) {
			try {
				this.panels[side].begin(this.state[side], this.editor.compiled);
			} catch (error) {
				this.say(error.message);
			}
		}
	}

	choose(side, choice) {
		if (!isPossible(this.page, this.state.cache, choice)) return;
		if (choice.function === "formula" && !this.editor.compiled) return;
		this.state[side] = choice;
		this.restart(this.player.position);
	}

	/* A formula without fault: who has it chosen sees what it does. */
	typed() {
		if (this.sides.some((side) => this.state[side].function === "formula")) this.restart(this.player.position);
	}

	/* Another stream or cache: what cannot be kept begins as a fresh page does. */
	turnTo(change) {
		const wanted = { ...this.wanted, ...change, at: 0 };
		const stream = change.cache ? streamOf(this.page, wanted.stream, wanted.cache) : wanted.stream;
		const state = { ...wanted, stream, cache: cacheOf(this.page, stream, wanted.cache) };
		this.sayTurned(wanted, state);
		for (const side of SIDES) {
			const fresh = firstChoice(this.page, state, side), kept = { ...state[side], bits: fresh.bits };
			state[side] = isPossible(this.page, state.cache, kept) ? kept : fresh;
		}
		return this.show(state);
	}

	/* Not every stream has keys of every cache: what had to change for what was @wanted. */
	sayTurned(wanted, { stream, cache }) {
		find("turned").hidden = stream === wanted.stream && cache === wanted.cache;
		find("turned").textContent = stream !== wanted.stream ? `The other stream had no keys of the ${cache} cache: this one has.` : `This stream has no keys of the ${wanted.cache} cache.`;
	}

	/* ---- what one sees ------------------------------------------------------------------------- */

	moved(playing) {
		const { position, end } = this.player;
		this.state.at = position;
		for (const side of this.sides) this.panels[side].draw();
		find("position").value = position;
		find("position").setAttribute("aria-valuetext", `operation ${grouped(position)} of ${grouped(end)}`);
		find("at").textContent = `${grouped(position)} of ${grouped(end)}`;
		find("play").textContent = playing ? "Pause" : position >= end ? "Again" : "Play";
		find("speed-said").textContent = speedText(SPEEDS.indexOf(this.state.speed));
		find("measured").textContent = this.player.measured ? `The last run at full speed: ${(this.player.measured / 1e6).toFixed(1)} million operations a second on this computer.` : "";
		if (playing) return;
		/* A screen reader hears where one stands, and a link to it is in the address. */
		const walks = this.sides.map((side) => this.panels[side].part("walk").textContent);
		find("heard").textContent = `Operation ${grouped(position)} of ${grouped(end)}. ${walks.join(" ")}`;
		this.keepAddress();
	}

	/* Not at each step of a slider: browsers take that ill. */
	keepAddress() {
		clearTimeout(this.waiting);
		this.waiting = setTimeout(() => history.replaceState(null, "", addressOf(this.state)), PATIENCE);
	}

	say(text) {
		find("fault").textContent = text;
		find("fault").hidden = !text;
	}

	/* ---- controls -------------------------------------------------------------------------------- */

	bind() {
		const { player } = this, on = (id, event, does) => find(id).addEventListener(event, does);
		on("play", "click", () => this.toggle());
		on("step", "click", () => this.step(1));
		on("back", "click", () => this.step(-1));
		on("start", "click", () => this.seek(0));
		on("position", "input", () => this.seek(Number(find("position").value)));
		on("speed", "input", () => {
			this.state.speed = player.speed = SPEEDS[Number(find("speed").value)];
			this.moved(player.playing);
		});
		on("file", "change", () => this.open(find("file").files[0]));
		on("stream", "change", () => this.turnTo({ stream: find("stream").value }));
		on("pair", "change", () => this.show({ ...this.wanted, pair: find("pair").checked, at: player.position }));
		for (const radio of document.querySelectorAll('[name="cache"]')) radio.addEventListener("change", () => this.turnTo({ cache: radio.value }));
		on("link", "click", () => this.copyLink());
		on("theme", "click", () => this.changeTheme());
		on("use", "click", () => {
			this.choose("a", { ...this.state.a, function: "formula" });
			find("panels").scrollIntoView({ block: "nearest" });
		});
		on("judge", "click", () => this.judge());
		document.addEventListener("keydown", (event) => this.key(event));
		window.addEventListener("hashchange", () => {
			clearTimeout(this.waiting);
			this.show(stateOf(location.hash, this.page));
		});
		window.addEventListener("resize", () => this.moved(player.playing));
	}

	/* Keys where nothing else takes them. */
	key(event) {
		const takes = event.target.closest("textarea, select, input, button, summary, a");
		const does = { " ": () => this.toggle(), k: () => this.toggle(), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), Home: () => this.seek(0), End: () => this.seek(this.player.end) }[event.key];
		if (takes || !does || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		does();
	}

	toggle() {
		if (this.player.playing) return this.player.pause();
		if (this.player.position >= this.player.end) this.restart(0);
		this.player.play();
	}

	step(by) {
		this.player.pause();
		this.seek(this.player.position + by);
	}

	seek(position) {
		this.player.seek(position, () => this.beginPanels());
	}

	async copyLink() {
		history.replaceState(null, "", addressOf(this.state));
		try {
			await navigator.clipboard.writeText(location.href);
			find("link").textContent = "Link copied";
		} catch {
			find("link").textContent = "The address has it";
		}
		setTimeout(() => (find("link").textContent = "Copy link"), 2000);
	}

	changeTheme() {
		const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
		root.dataset.theme = (root.dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
		this.moved(this.player.playing);
	}

	async judge() {
		const button = find("judge"), choice = this.state.a, { cache } = this.state;
		button.disabled = true;
		this.player.pause();
		const having = this.page.streams.filter(({ name }) => hasKeys(this.page, name, cache));
		const streams = await Promise.all(having.map(({ name }) => this.stream(name)));
		const progress = (done, of) => (find("verdict").textContent = `${done} of ${of} …`);
		try {
			const rows = await judge(this.module, this.page.plugins, streams, cache, choice, this.editor.compiled, progress);
			find("field").hidden = false;
			showField(find("field-heads"), find("ranks"), having.map(({ name, about, own }) => (own ? about : name)), rows);
			find("verdict").textContent = verdictOf(rows, choice.bits);
		} catch (error) {
			find("verdict").textContent = error.message;
		}
		button.disabled = !this.editor.formula;
	}
}

async function start() {
	const page = JSON.parse(find("page").textContent);
	const module = await WebAssembly.compile(bytesOf("module"));
	const playground = new Playground(page, module);
	for (const { name, about } of page.streams) playground.offerStream(name, about);
	await playground.show(stateOf(location.hash, page));
	playground.bind();
	/* For tests, and for who looks from the browser's console. */
	globalThis.playground = { page, module, playground, CACHES, Engine, compileFormula, headerOf, judge, parseFormula, readStream };
	document.body.dataset.ready = "yes";
}

start().catch((error) => {
	find("fault").hidden = false;
	find("fault").textContent = `This browser cannot show the playground: ${error.message}`;
});
