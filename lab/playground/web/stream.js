/*
 * stream.js - a key stream's file (docs/lab/key-streams.md) into columns, one set for each cache.
 *
 * Numbers of 64 bits stay in pairs of 32 (low, high): as BigInts a stream of a hundred thousand keys
 * would take seconds, and the engine wants bytes anyway.
 */

/* By their numbers in a file. The last two are there in few streams: swap with a table of its own, whole paths. */
export const CACHES = ["page", "buffer", "inode", "dentry", "swap", "path"];
export const FIND = 0, INSERT = 1, REMOVE = 2, LOOK = 3, REPORT = 5, FOUND = 8;
const DENTRY = 3;
const HEAD = 20, BLOCK_HEAD = 36, VERSIONS = 3;

/* All of @bytes decompressed, zlib's format. */
async function inflated(bytes) {
	const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(plain).arrayBuffer());
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
	for (let bit = 0; bit < 8; bit++) byte = (byte >>> 1) ^ (byte & 1 ? 0xedb88320 : 0);
	return byte;
});

/* zlib's CRC-32 of @parts, one behind the other. */
function crc32(...parts) {
	let crc = 0xffffffff;
	for (const part of parts) for (const byte of part) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255];
	return ~crc >>> 0;
}

/* Of a head of @size bytes at @at, which ends in the checksum of it and the @length bytes behind it: these. Throws where they do not fit. */
function checked(bytes, at, size, length) {
	const data = bytes.subarray(at + size, at + size + length);
	if (data.length < length) throw new Error("The key stream is cut: its end is missing.");
	const said = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + size - 4, true);
	if (crc32(bytes.subarray(at, at + size - 4), data) !== said) throw new Error("The key stream is damaged: it does not fit its checksum.");
	return data;
}

const hasObject = (kind) => (kind & FOUND) !== 0 || (kind & 7) === INSERT || (kind & 7) === REMOVE;
const hasKey = (kind) => (kind & 7) === INSERT || (((kind & 7) === FIND || (kind & 7) === LOOK) && !(kind & FOUND));

/* A column of @count differences in byte planes from @at on, summed up; the low 32 bits of each, and the high ones of @width 8. */
function column(plain, at, count, width) {
	const low = new Uint32Array(count), high = width === 8 ? new Uint32Array(count) : null;
	let sumLow = 0, sumHigh = 0;
	for (let i = 0; i < count; i++) {
		let stepLow = 0, stepHigh = 0;
		for (let plane = 0; plane < width; plane++) {
			const byte = plain[at + plane * count + i];
			if (plane < 4) stepLow |= byte << (8 * plane);
			else stepHigh |= byte << (8 * (plane - 4));
		}
		const total = (sumLow >>> 0) + (stepLow >>> 0);
		sumLow = total >>> 0;
		sumHigh = (sumHigh + stepHigh + (total > 0xffffffff ? 1 : 0)) >>> 0;
		low[i] = width === 2 ? sumLow & 0xffff : sumLow;
		if (high) high[i] = sumHigh;
	}
	return { low, high };
}

function emptyCache() {
	return { kinds: [], objects: [], first: [], second: [], lengths: [], names: [] };
}

/* The operations of a block, each given to its cache. */
function sortOut(plain, counts, caches) {
	const [operations, objects, keys, lengths] = counts;
	let at = operations * 2; /* behind kinds and processors */
	const object = column(plain, at, objects, 4);
	at += 4 * objects;
	const first = column(plain, at, keys, 8);
	at += 8 * keys;
	const second = column(plain, at, keys, 8);
	at += 8 * keys;
	const length = column(plain, at, lengths, 2);
	at += 2 * lengths;
	let o = 0, k = 0, l = 0;
	for (let i = 0; i < operations; i++) {
		const kind = plain[i], number = kind >> 4, to = caches[number];
		to.kinds.push(kind);
		if (hasObject(kind)) to.objects.push(object.low[o++]);
		if (!hasKey(kind)) continue;
		to.first.push(first.low[k], first.high[k]);
		to.second.push(second.low[k], second.high[k]);
		k++;
		if (number !== DENTRY) continue;
		to.lengths.push(length.low[l]);
		to.names.push(plain.subarray(at, at + length.low[l]));
		at += length.low[l++];
	}
}

/* A number for each different first word: in trees, whose tree it is. */
function rootsOf(first) {
	const seen = new Map(), roots = new Uint32Array(first.length / 2);
	for (let i = 0; i < roots.length; i++) {
		const key = `${first[2 * i + 1]}:${first[2 * i]}`;
		if (!seen.has(key)) seen.set(key, seen.size);
		roots[i] = seen.get(key);
	}
	return { roots, count: Math.max(seen.size, 1) };
}

/* As the engine takes it: typed columns, and how many operations there are until the kernel's own report. */
function packed(name, cache, entry) {
	const roots = name === "page" ? rootsOf(cache.first) : { roots: new Uint32Array(cache.first.length / 2), count: 1 };
	const report = cache.kinds.findIndex((kind) => (kind & 7) === REPORT);
	const names = new Uint8Array(cache.names.reduce((sum, one) => sum + one.length, 8));
	let at = 0;
	for (const one of cache.names) {
		names.set(one, at);
		at += one.length;
	}
	return {
		name, entry, names,
		until: report < 0 ? cache.kinds.length : report,
		kinds: Uint8Array.from(cache.kinds),
		objects: Uint32Array.from(cache.objects),
		first: Uint32Array.from(cache.first),
		second: Uint32Array.from(cache.second),
		lengths: Uint16Array.from(cache.lengths),
		roots: roots.roots,
		rootCount: roots.count,
	};
}

/* The stream in @bytes: its header, and by name the caches that it has keys of. Throws a sentence when it is none. */
export async function readStream(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const magic = String.fromCharCode(...bytes.subarray(0, 8));
	if (magic !== "CWKEYS\r\n") throw new Error("This is no key stream: ./cw record makes one.");
	if (bytes.length < HEAD) throw new Error("The key stream is cut: its end is missing.");
	const version = view.getUint32(8, true);
	if (version < 1 || version > VERSIONS) throw new Error("This key stream is of another version.");
	const size = view.getUint32(12, true);
	const header = JSON.parse(new TextDecoder().decode(checked(bytes, 0, HEAD, size)));
	const caches = CACHES.map(emptyCache);
	for (let at = HEAD + size, number = 0; ; number++) {
		if (at + BLOCK_HEAD > bytes.length) throw new Error("The key stream is cut: its end is missing.");
		const mark = String.fromCharCode(...bytes.subarray(at, at + 4));
		if ((mark !== "CWKB" && mark !== "CWKE") || view.getUint32(at + 4, true) !== number) throw new Error("The key stream is damaged.");
		const counts = [8, 12, 16, 20].map((offset) => view.getUint32(at + offset, true));
		const data = checked(bytes, at, BLOCK_HEAD, view.getUint32(at + 28, true));
		at += BLOCK_HEAD + data.length;
		if (mark === "CWKE" && at !== bytes.length) throw new Error("Something stands behind the key stream's end.");
		if (mark === "CWKE") break;
		sortOut(await inflated(data), counts, caches);
	}
	const there = CACHES.filter((name) => header.caches[name]?.operations);
	const sorted = there.map((name) => [name, packed(name, caches[CACHES.indexOf(name)], header.caches[name])]);
	return { header, caches: Object.fromEntries(sorted) };
}
