/*
 * engine.js - the kernel's code in WebAssembly (lab/playground/wasm) behind a few calls: one cache's
 * operations through one choice of function, structure and size, as far as one likes.
 */

const SHOWN = 64; /* as in wasm/engine.h, and so are the offsets below */
const SHOWN_BYTES = 32;
const CHAIN_AT = 16 + SHOWN_BYTES;
const NONE = 0xffffffff;

/* What of struct hash_counters stands where. */
const COUNTERS = ["hits", "misses", "hit_steps", "miss_steps", "compares", "inserts", "removes"];

export class Engine {
	/* @module: the compiled one. @plugins: what it holds, as lab/playground/page.py says. */
	constructor(module, plugins) {
		this.plugins = plugins;
		this.instance = new WebAssembly.Instance(module, {});
		this.calls = this.instance.exports;
		this.table = this.calls.__indirect_function_table;
		this.slot = this.table.grow(2);
	}

	/* Take one cache's columns (stream.js) of a stream recorded with @seed, 16 hexadecimal digits. */
	load(cache, seed) {
		const c = this.calls;
		c.heap_forget();
		this.cache = cache;
		const keep = (column) => {
			const at = c.heap_keep(column.byteLength);
			new Uint8Array(c.memory.buffer).set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
			return at;
		};
		const names = keep(cache.names);
		const columns = [cache.kinds, cache.objects, cache.first, cache.second, cache.roots].map(keep);
		const lengths = cache.name === "dentry" ? keep(cache.lengths) : 0;
		this.nameAt = c.heap_keep(64);
		const count = cache.kinds.length;
		if (c.operations_expand(count, cache.entry.objects, ...columns, lengths, names) !== count)
			throw new Error("An operation is about an object that never came: this is no real stream.");
		c.seed_set(BigInt(`0x${seed}`));
	}

	/*
	 * Begin with an empty table. @choice: {structure, function, word, bits, names}; @formula: what a
	 * function "formula" is (emit.js's compileFormula()).
	 */
	begin(choice, formula) {
		const { plugins, calls: c } = this, mine = plugins.caches[this.cache.name];
		const bucket = formula && choice.function === "formula" ? formula : c[mine.functions[choice.function].symbols[choice.word]];
		this.engine = mine.structures[choice.structure].engine;
		this.table.set(this.slot, bucket);
		this.table.set(this.slot + 1, c[plugins.names[choice.names].symbols[choice.word]]);
		this.position = 0;
		this.word = choice.word;
		const name = new TextEncoder().encode(choice.function.slice(0, 63) + "\0");
		new Uint8Array(c.memory.buffer).set(name, this.nameAt);
		const { entry, rootCount } = this.cache;
		if (!this.call("begin", choice.bits, entry.objects, rootCount, this.slot, this.slot + 1, this.nameAt))
			throw new Error(this.complaint());
	}

	call(what, ...given) {
		try {
			return this.calls[`${this.engine}_${what}`](...given);
		} catch (error) {
			throw error instanceof WebAssembly.RuntimeError ? new Error(this.complaint() || String(error)) : error;
		}
	}

	complaint() {
		return this.text(this.calls.complaint_said());
	}

	/* On to before operation @to. */
	run(to) {
		const reached = this.call("run", this.position, to);
		if (reached !== to) throw new Error(`Operation ${reached}: ${this.complaint()}.`);
		this.position = to;
	}

	/* The kernel's report of the table as it is (docs/kernel/counters.md). */
	report() {
		/* The word is the function's, which came as a pointer; so the engine cannot know it. */
		return { ...JSON.parse(this.text(this.call("report"))), word: this.word };
	}

	/* Only what is counted, which is quick. */
	counters() {
		const at = this.call("counters"), numbers = new BigUint64Array(this.calls.memory.buffer, at, COUNTERS.length);
		return Object.fromEntries(COUNTERS.map((name, i) => [name, Number(numbers[i])]));
	}

	/* How many objects each bucket (or tree) holds: valid until the next call. */
	sizes() {
		const count = this.call("sizes");
		return new Uint32Array(this.calls.memory.buffer, this.calls.sizes_walked(), count);
	}

	/* Where operation @at leads now: {kind, bucket, walked, length, key, chain}. */
	trace(at) {
		const place = this.call("trace", at), view = new DataView(this.calls.memory.buffer, place);
		const [kind, bucket, walked, length] = [0, 4, 8, 12].map((offset) => view.getUint32(offset, true));
		const chain = [];
		for (let i = 0; i < Math.min(length, SHOWN); i++) chain.push(this.shown(view, CHAIN_AT + i * SHOWN_BYTES));
		return { kind, bucket, walked, length, chain, key: this.shown(view, 16) };
	}

	shown(view, at) {
		const name = view.getUint32(at + 16, true), length = view.getUint32(at + 20, true);
		const object = view.getUint32(at + 24, true);
		return {
			first: view.getBigUint64(at, true),
			second: view.getBigUint64(at + 8, true),
			name: new TextDecoder().decode(new Uint8Array(this.calls.memory.buffer, name, length)),
			object: object === NONE ? null : object,
		};
	}

	/* A text that ends with a zero. */
	text(at) {
		const bytes = new Uint8Array(this.calls.memory.buffer);
		return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
	}
}
