/*
 * emit.js - a checked formula (formula.js) as code: a function of WebAssembly that an engine calls, and a
 * header of hash/ that builds. Both compute the same for every key.
 */
import { constant, KEYS, LEVELS } from "./formula.js";

/* The parameters of each cache's function, by the names that formulas have for them. */
const PARAMETERS = {
	page: "uintptr_t inode, u64 offset", buffer: "u32 device, u64 block",
	inode: "uintptr_t superblock, u64 number", dentry: "uintptr_t parent, u32 hash",
	swap: "u32 type, u64 slot", path: "u64 index, u64 space",
};

/* ---- as WebAssembly ---------------------------------------------------------------------------- */

const CODES = { "+": 0x7c, "-": 0x7d, "*": 0x7e, "/": 0x80, "%": 0x82, "&": 0x83, "|": 0x84, "^": 0x85, "<<": 0x86, ">>": 0x88 };
const GET = 0x20, SET = 0x21, CONSTANT = 0x42, EXTEND = 0xad, WRAP = 0xa7, END = 0x0b, I32 = 0x7f, I64 = 0x7e;

/* A number as LEB128: without sign, and with. */
function unsigned(value) {
	const bytes = [];
	for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
	return [...bytes, value];
}
function signed(value) {
	const bytes = [];
	for (let rest = BigInt.asIntN(64, value); ; ) {
		const low = Number(rest & 127n);
		rest >>= 7n;
		if ((rest === 0n && low < 64) || (rest === -1n && low >= 64)) return [...bytes, low];
		bytes.push(low | 128);
	}
}

/* The instructions that leave the value of @node. Parameters are 0 and 1, the key, and 2, bits; names follow. */
function instructions(node) {
	const number = (value) => [CONSTANT, ...signed(value)];
	switch (node.kind) {
	case "number":
		return number(node.value);
	case "key":
		return [GET, node.index, ...(node.narrow ? [...number(0xffffffffn), CODES["&"]] : [])];
	case "bits":
		return [GET, 2, EXTEND];
	case "local":
		return [GET, ...unsigned(3 + node.index)];
	case "binary":
		return [...instructions(node.left), ...instructions(node.right), CODES[node.operator]];
	case "unary":
		return node.operator === "-"
			? [...number(0n), ...instructions(node.value), CODES["-"]]
			: [...instructions(node.value), ...number(-1n), CODES["^"]];
	}
	const given = node.given.flatMap(instructions);
	switch (node.name) {
	case "rotl":
		return [...given, 0x89];
	case "rotr":
		return [...given, 0x8a];
	case "low":
		return [...given, ...number(0xffffffffn), CODES["&"]];
	case "high":
		return [...given, ...number(32n), CODES[">>"]];
	}
	return [...given, ...number(64n), GET, 2, EXTEND, CODES["-"], CODES[">>"]]; /* top */
}

const section = (id, bytes) => [id, ...unsigned(bytes.length), ...bytes];

/* A checked formula as a function that an engine can call: (first, second, bits) to a bucket. */
export function compileFormula(formula) {
	const code = formula.locals.flatMap(({ value }, index) => [...instructions(value), SET, ...unsigned(3 + index)]);
	const mask = [CONSTANT, 1, GET, 2, EXTEND, CODES["<<"], CONSTANT, 1, CODES["-"], CODES["&"], WRAP, END];
	const body = [1, ...unsigned(formula.locals.length), I64, ...code, ...instructions(formula.value), ...mask];
	const bytes = [
		0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
		...section(1, [1, 0x60, 3, I64, I64, I32, 1, I32]),
		...section(3, [1, 0]),
		...section(7, [1, 1, 0x66, 0, 0]), /* exported as "f" */
		...section(10, [1, ...unsigned(body.length), ...body]),
	];
	return new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(bytes))).exports.f;
}

/* ---- as C --------------------------------------------------------------------------------------- */

const inParentheses = (node) => (node.kind === "binary" || node.kind === "unary" ? `(${inC(node)})` : inC(node));

/* What is left of @operator: bare where it binds as tightly, so that a long sum is no nest of brackets. A power
 * mistyped as 2 ^ 16 is not suspected of a number in hexadecimal. */
function leftOf({ operator, left }) {
	if (operator === "^" && left.kind === "number") return `0x${left.value.toString(16)}ull`;
	const level = LEVELS.find((one) => one.includes(operator));
	return left.kind === "binary" && level.includes(left.operator) ? inC(left) : inParentheses(left);
}

function inC(node) {
	switch (node.kind) {
	case "number":
		return node.value >> 20n ? `0x${node.value.toString(16)}ull` : `${node.value}ull`;
	case "key":
		return node.narrow ? `(u64)${node.name}` : node.name;
	case "bits":
		return "(u64)bits";
	case "local":
		return `value_${node.index}`;
	case "unary":
		return `${node.operator}${inParentheses(node.value)}`;
	case "binary":
		return `${leftOf(node)} ${node.operator} ${shiftCount(node) ?? inParentheses(node.right)}`;
	}
	const given = node.given.map(inC);
	switch (node.name) {
	case "rotl":
		return `formula_rotate(${given[0]}, ${given[1]})`;
	case "rotr":
		return `formula_rotate(${given[0]}, -(${given[1]}))`;
	case "low":
		return `(u64)(u32)(${given[0]})`;
	case "high":
		return `((u64)(${given[0]}) >> 32)`;
	}
	return `((u64)(${given[0]}) >> (64 - bits))`; /* top; hash_top() is a macro, and one in another of them doubles */
}

const isShift = ({ operator }) => operator === "<<" || operator === ">>";

/* C leaves shifts by 64 and more undefined. */
function shiftCount(node) {
	if (!isShift(node)) return null;
	const { right } = node, value = constant(right);
	return value === null ? `(${inParentheses(right)} & 63)` : String(value);
}

const ROTATE = `static inline u64 formula_rotate(u64 value, u64 count)
{
	return value << (count & 63) | value >> (-count & 63);
}

`;

/* Collects in @used the words of the key, by name, and the names, by number, that @node's value needs. */
function collect(node, used) {
	if (node.kind === "key") used.add(node.name);
	if (node.kind === "local") used.add(node.index);
	const right = isShift(node) && constant(node.right) !== null ? null : node.right; /* written as a number */
	for (const part of [node.left, right, node.value, ...(node.given ?? [])]) if (part?.kind) collect(part, used);
}

/* The header hash/@cache/@name.h of a checked formula. */
export function headerOf(formula, name) {
	const { cache, locals, value, text } = formula;
	const used = new Set();
	collect(value, used);
	for (let i = locals.length - 1; i >= 0; i--) if (used.has(i)) collect(locals[i].value, used);
	/* A compiler warns of what is not used. */
	const values = locals.flatMap((one, i) => (used.has(i) ? [`	const u64 value_${i} = ${inC(one.value)}; /* ${one.name} */\n`] : []));
	const idle = KEYS[cache].flatMap(([key]) => (used.has(key) ? [] : [`	(void)${key};\n`]));
	const body = [...values, ...idle, values.length + idle.length ? "\n" : "", `	return (u32)(${inC(value)}) & hash_mask(bits);\n`].join("");
	const lines = text.trim().replaceAll("*/", "* /").split("\n").map((line) => ` *	${line.trim()}\n`).join("");
	return `/*
 * A ${cache} hash of one formula, made in the playground.
 *
${lines} *
 * Source: ${name}.h, by its author. Cost: see ./cw hashcost. Weakness: see the playground.
 */
#pragma once

${body.includes("formula_rotate") ? ROTATE : ""}static inline u32 ${cache}_hash(${PARAMETERS[cache]}, unsigned bits)
{
${body}}
`;
}
