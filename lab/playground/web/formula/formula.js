/*
 * formula.js - a hash function typed as a formula: read and checked. emit.js makes code of it.
 *
 *	formula = { name "=" value ";" } value
 *	value   = value operator value | "-" value | "~" value | "(" value ")"
 *	        | number | name | function "(" value { "," value } ")"
 *
 * The operators are C's, and bind as in C. All is computed in 64 bits without sign; what goes beyond
 * is cut off, a shift's count is taken modulo 64, and of the result the lowest bits of the table's
 * size count. A division is allowed only by what cannot be zero, which one sees at the divisor
 * itself: then a formula has a value for every key, here and in the kernel.
 */

/* What the words of each cache's key are called: [name, what it is, of 32 bits]. */
export const KEYS = {
	page: [["inode", "address of the file's inode"], ["offset", "place in the file, in bytes"]],
	buffer: [["device", "number of the disk", true], ["block", "number of the block"]],
	inode: [["superblock", "address of the superblock"], ["number", "number of the inode"]],
	swap: [["type", "number of the swap area", true], ["slot", "place in the area, in pages"]],
	path: [["index", "24 bits of the path's signature"], ["space", "nothing: all paths have a zero here"]],
	dentry: [["parent", "address of the folder's dentry"], ["hash", "hash of the name", true]],
};
/* Loosest first. */
export const LEVELS = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];
/* How many values each takes, and what it is. */
export const FUNCTIONS = {
	top: [1, "the highest bits of a value: as many as a bucket's number has"],
	rotl: [2, "bits turned to the left: rotl(value, count)"],
	rotr: [2, "the same to the right"],
	low: [1, "the lowest 32 bits"],
	high: [1, "the highest 32 bits"],
};
export const CONSTANTS = { golden: [0x61c8864680b583ebn, "2^64 by the golden ratio, as Linux has it"] };
const WORD = 1n << 64n;
/* A level becomes up to eight brackets of the header, and clang takes 256 inside each other. */
const LONGEST = 2000, DEEPEST = 30;

/* What is wrong with a formula, and where: from character @from to before @to. */
export class FormulaError extends Error {
	constructor(message, from, to) {
		super(message);
		this.from = from;
		this.to = Math.max(to, from + 1);
	}
}

/* ---- reading ---------------------------------------------------------------------------------- */

const TOKEN = /\s+|(0[xX][0-9a-fA-F_]+|0[bB][01_]+|\d[\d_]*)|([A-Za-z]\w*)|(<<|>>|[-+*/%&|^~(),;=])|([^])/gy;

function tokens(text) {
	const found = [];
	TOKEN.lastIndex = 0;
	for (let m; TOKEN.lastIndex < text.length && (m = TOKEN.exec(text)); ) {
		const from = m.index, to = TOKEN.lastIndex;
		if (m[4]) throw new FormulaError(`“${m[4]}” means nothing here. ${OPERATORS}`, from, to);
		if (m[1]) found.push({ kind: "number", value: numberOf(text, m[1], from, to), from, to });
		else if (m[2]) found.push({ kind: "name", text: m[2], from, to });
		else if (m[3]) found.push({ kind: m[3], from, to });
	}
	found.push({ kind: "end", from: text.length, to: text.length });
	return found;
}
const OPERATORS = "There are + - * / % << >> & | ^ ~, parentheses, numbers and names.";

function numberOf(text, digits, from, to) {
	const word = digits + /^\w*/.exec(text.slice(to))[0], based = /^0[xb]/i.test(word);
	if (based && (word !== digits || !/[^_]/.test(digits.slice(2))))
		throw new FormulaError(`“${word}” is no number. Numbers look like 12, 0xff (with 0 to 9 and a to f) or 0b101 (with 0 and 1).`, from, from + word.length);
	if (word !== digits) throw new FormulaError("A number runs into a name: put an operator between them.", from, to + 1);
	const value = BigInt(digits.replaceAll("_", "").toLowerCase());
	if (value >= WORD) throw new FormulaError("The number has more than 64 bits.", from, to);
	return value;
}

class Reader {
	constructor(text, cache) {
		this.tokens = tokens(text);
		this.at = 0;
		this.depth = 0;
		this.names = new Map(KEYS[cache].map(([name, , narrow], index) => [name, { kind: "key", name, index, narrow }]));
		this.names.set("bits", { kind: "bits" });
		for (const [name, [value]] of Object.entries(CONSTANTS)) this.names.set(name, { kind: "number", value });
		this.locals = [];
	}

	get next() {
		return this.tokens[this.at];
	}

	expect(kind, why) {
		if (this.next.kind !== kind) throw new FormulaError(why, this.next.from, this.next.to);
		return this.tokens[this.at++];
	}

	formula() {
		while (this.next.kind === "name" && this.tokens[this.at + 1].kind === "=") this.local();
		const value = this.value(0);
		if (this.next.kind === ";") throw new FormulaError("“;” ends name = value; only. The value of the formula comes last and ends without.", this.next.from, this.next.to);
		if (this.next.kind === "=") throw new FormulaError("Only a name can be given a value: name = value;", this.next.from, this.next.to);
		this.expect("end", this.next.kind === ")" ? "There is no “(” to this “)”." : "An operator is missing before this. " + OPERATORS);
		return { locals: this.locals, value };
	}

	/* name = value; */
	local() {
		const name = this.tokens[this.at];
		if (this.names.has(name.text) || name.text in FUNCTIONS)
			throw new FormulaError(`“${name.text}” has a meaning already: take another name.`, name.from, name.to);
		this.at += 2;
		const value = this.value(0);
		this.expect(";", "A “;” is missing: name = value; and then the value of the formula.");
		const known = { constant: constant(value), neverZero: isNeverZero(value) };
		this.names.set(name.text, { kind: "local", index: this.locals.length, ...known });
		this.locals.push({ name: name.text, value });
	}

	value(level) {
		if (level === LEVELS.length) return this.unary();
		let left = this.value(level + 1);
		while (LEVELS[level].includes(this.next.kind)) {
			const operator = this.tokens[this.at++], right = this.value(level + 1);
			left = { kind: "binary", operator: operator.kind, left, right, from: left.from, to: right.to };
			checkOperation(left);
		}
		return left;
	}

	unary() {
		const { kind, from, to } = this.next;
		if (kind !== "-" && kind !== "~") return this.primary();
		this.at++;
		this.deeper(from, to);
		const value = this.unary();
		this.depth--;
		return { kind: "unary", operator: kind, value, from, to: value.to };
	}

	deeper(from, to) {
		if (++this.depth > DEEPEST) throw new FormulaError("Too many parentheses inside each other.", from, to);
	}

	primary() {
		const token = this.next;
		if (token.kind === "number") {
			this.at++;
			return token;
		}
		if (token.kind === "name") return this.tokens[this.at + 1].kind === "(" ? this.call() : this.named();
		if (token.kind === "(") {
			this.at++;
			this.deeper(token.from, token.to);
			const value = this.value(0);
			this.depth--;
			const end = this.expect(")", "A “)” is missing here.");
			return { ...value, from: token.from, to: end.to };
		}
		const what = token.kind === "end" ? "The formula ends where a value should follow" : "A value is missing here";
		throw new FormulaError(`${what}: a number, a name, or a value in parentheses.`, token.from, token.to);
	}

	named() {
		const token = this.tokens[this.at++], found = this.names.get(token.text);
		if (found) return { ...found, from: token.from, to: token.to };
		const names = [...this.names.keys()].join(", ");
		throw new FormulaError(`There is no “${token.text}”. There are: ${names}.`, token.from, token.to);
	}

	call() {
		const token = this.tokens[this.at], wanted = Object.hasOwn(FUNCTIONS, token.text) ? FUNCTIONS[token.text] : null;
		if (!wanted)
			throw new FormulaError(`There is no function “${token.text}”. There are: ${Object.keys(FUNCTIONS).join(", ")}.`, token.from, token.to);
		this.at += 2;
		this.deeper(token.from, token.to);
		const given = [this.value(0)];
		while (this.next.kind === ",") {
			this.at++;
			given.push(this.value(0));
		}
		this.depth--;
		const end = this.expect(")", "A “)” or “,” is missing here.");
		if (given.length !== wanted[0])
			throw new FormulaError(`${token.text}() takes ${wanted[0] === 1 ? "one value" : "two values"}, not ${given.length}.`, token.from, end.to);
		return { kind: "call", name: token.text, given, from: token.from, to: end.to };
	}
}

/* ---- what is known of a value before there is a key ------------------------------------------- */

const cut = (value) => BigInt.asUintN(64, value);
const ARITHMETIC = {
	"+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "%": (a, b) => a % b,
	"<<": (a, b) => a << (b & 63n), ">>": (a, b) => a >> (b & 63n), "&": (a, b) => a & b, "|": (a, b) => a | b, "^": (a, b) => a ^ b,
};

/* A value that is the same for all keys, or null. */
export function constant(node) {
	if (node.kind === "number") return node.value;
	if (node.kind === "local") return node.constant; /* known since it was given its value */
	if (node.kind === "unary") {
		const value = constant(node.value);
		return value === null ? null : cut(node.operator === "-" ? -value : ~value);
	}
	if (node.kind !== "binary") return null;
	const left = constant(node.left), right = constant(node.right);
	return left === null || right === null ? null : cut(ARITHMETIC[node.operator](left, right));
}

/* Can it be seen that it is never zero? */
function isNeverZero(node) {
	const value = constant(node);
	if (value !== null) return value !== 0n;
	if (node.kind === "local") return node.neverZero;
	if (node.kind === "bits") return true;
	if (node.kind !== "binary") return false;
	if (node.operator === "|") return isNeverZero(node.left) || isNeverZero(node.right);
	/* 1 << bits: a table has 1 to 31 of them. */
	return node.operator === "<<" && constant(node.left) === 1n && node.right.kind === "bits";
}

const DIVISORS = "Write (… | 1), or divide by a number other than zero, by bits or by (1 << bits).";

function checkOperation({ operator, right }) {
	const value = constant(right);
	if (operator === "/" || operator === "%") {
		if (value === 0n) throw new FormulaError(`Division by zero. ${DIVISORS}`, right.from, right.to);
		if (!isNeverZero(right))
			throw new FormulaError(`This could be zero, and a division by zero has no value. ${DIVISORS}`, right.from, right.to);
	}
	if ((operator === "<<" || operator === ">>") && value !== null && value > 63n)
		throw new FormulaError("A value has 64 bits: shift it by 0 to 63.", right.from, right.to);
}

/* The formula in @text for @cache's key, checked; throws a FormulaError that says what is wrong where. */
export function parseFormula(text, cache) {
	if (text.length > LONGEST) throw new FormulaError(`A formula has at most ${LONGEST} characters.`, LONGEST, text.length);
	return { ...new Reader(text, cache).formula(), cache, text };
}
