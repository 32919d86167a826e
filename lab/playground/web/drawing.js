/*
 * drawing.js - the pictures: buckets as a field of cells, the histogram with chance over it, the
 * chain of one bucket.
 */

const SVG = "http://www.w3.org/2000/svg";
const LEAST_CELL = 3, GAP_FROM = 6; /* pixels of a cell: the smallest, and from which on there is a gap between two */
const DEEPEST = 6; /* as many objects and more have the last colour */

/* An element with attributes and children. */
export function element(name, attributes = {}, ...children) {
	const made = name.startsWith("svg:") ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
	made.append(...children);
	return made;
}

export const grouped = (number) => number.toLocaleString("en");

/* ---- buckets ------------------------------------------------------------------------------------ */

/* The colours of sizes 0, 1, 2 ... as the theme has them now. */
function colours() {
	const style = getComputedStyle(document.documentElement);
	return Array.from({ length: DEEPEST + 1 }, (_, size) => style.getPropertyValue(`--size-${size}`));
}

/*
 * How @count buckets fill @width by @height: columns and rows of cells nearly square, and how many
 * buckets share a cell. A table has a power of two of them, and so have its columns: what lies in
 * steps of a power of two is seen as stripes.
 */
function fieldOf(count, width, height) {
	let together = 1;
	while (count / together > (width * height) / LEAST_CELL ** 2) together *= 2;
	const cells = Math.ceil(count / together), wide = Math.sqrt((cells * width) / height);
	const isPower = Number.isInteger(Math.log2(cells));
	const columns = Math.min(isPower ? 2 ** Math.round(Math.log2(wide)) : Math.ceil(wide), cells);
	return { together, cells, columns, rows: Math.ceil(cells / columns) };
}

/*
 * Draw @sizes into @canvas, a cell a bucket or a few; a ring around that of @current, or null.
 * Returns how many buckets share a cell.
 */
export function drawBuckets(canvas, sizes, current) {
	const scale = Math.min(window.devicePixelRatio || 1, 2);
	const width = Math.floor(canvas.clientWidth * scale), height = Math.floor(canvas.clientHeight * scale);
	if (!width || !height || !sizes.length) return 1;
	if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
	const { together, cells, columns, rows } = fieldOf(sizes.length, width, height);
	const pen = canvas.getContext("2d"), shades = colours(), gap = width / columns >= GAP_FROM && height / rows >= GAP_FROM ? scale : 0;
	const across = (column) => Math.round((column * width) / columns), down = (row) => Math.round((row * height) / rows);
	const place = (cell) => {
		const column = cell % columns, row = Math.floor(cell / columns), x = across(column), y = down(row);
		return [x, y, across(column + 1) - x - gap, down(row + 1) - y - gap];
	};
	pen.clearRect(0, 0, width, height);
	for (let cell = 0; cell < cells; cell++) {
		let most = 0;
		for (let i = cell * together; i < Math.min((cell + 1) * together, sizes.length); i++) most = Math.max(most, sizes[i]);
		pen.fillStyle = shades[Math.min(most, DEEPEST)];
		pen.fillRect(...place(cell));
	}
	if (current !== null && current < sizes.length) {
		const [x, y, wide, high] = place(Math.floor(current / together)), off = scale;
		pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark");
		pen.lineWidth = 2 * scale;
		pen.strokeRect(Math.max(x - off, off), Math.max(y - off, off), Math.min(wide + 2 * off, width - x - off), Math.min(high + 2 * off, height - y - off));
	}
	return together;
}

/* ---- histogram ----------------------------------------------------------------------------------- */

const WIDE = 460, HIGH = 190, LEFT = 44, BOTTOM = 26, TOP = 8;

/* The scale is logarithmic, since one long chain among thousands of short ones is what matters. */
function heightOf(count, most) {
	const room = HIGH - BOTTOM - TOP;
	return count < 0.5 ? 0 : (room * (0.35 + Math.log10(count))) / (0.35 + Math.log10(most));
}

/*
 * The report's histogram as bars, what chance would give as a line of dots over it. @report: of
 * engine.js; of trees there is no chance.
 */
export function drawHistogram(svg, report) {
	const { buckets, expected } = report.histogram;
	const most = Math.max(10, ...buckets, ...(expected ?? []));
	const step = (WIDE - LEFT) / buckets.length, base = HIGH - BOTTOM;
	const parts = [];
	for (let tick = 1; tick <= most; tick *= 10) {
		const y = base - heightOf(tick, most);
		parts.push(element("svg:line", { x1: LEFT, x2: WIDE, y1: y, y2: y, class: "grid" }));
		parts.push(element("svg:text", { x: LEFT - 6, y: y + 4, class: "tick end" }, tick >= 1000 ? `${tick / 1000}k` : String(tick)));
	}
	buckets.forEach((count, size) => {
		const x = LEFT + size * step, tall = heightOf(count, most);
		parts.push(element("svg:rect", { x: x + 3, y: base - tall, width: step - 6, height: tall, rx: 1.5, class: `bar size-${Math.min(size, DEEPEST)}` }));
		parts.push(element("svg:text", { x: x + step / 2, y: HIGH - 9, class: "tick middle" }, size === buckets.length - 1 ? `>${size - 1}` : String(size)));
	});
	const points = (expected ?? []).map((count, size) => [LEFT + (size + 0.5) * step, base - heightOf(count, most), count]);
	const seen = points.filter(([, , count]) => count >= 0.5);
	if (seen.length) parts.push(element("svg:polyline", { points: seen.map(([x, y]) => `${x},${y}`).join(" "), class: "chance" }));
	for (const [x, y] of seen) parts.push(element("svg:circle", { cx: x, cy: y, r: 3.2, class: "chance" }));
	svg.setAttribute("viewBox", `0 0 ${WIDE} ${HIGH}`);
	svg.replaceChildren(...parts);
}

/* The same as rows of a table: size, buckets, expected. */
export function histogramRows(report) {
	const { buckets, expected } = report.histogram;
	return buckets.map((count, size) => [size === buckets.length - 1 ? `more than ${size - 1}` : String(size), grouped(count), expected ? expected[size].toFixed(1) : ""]);
}

/* ---- chain ------------------------------------------------------------------------------------- */

/* A key in words. */
export function keyText(cache, key) {
	const address = `…${(key.first & 0xfffffn).toString(16).padStart(5, "0")}`;
	switch (cache) {
	case "page":
		return `file ${address}, page ${grouped(Number(key.second >> 12n))}`;
	case "buffer":
		return `disk ${key.first >> 8n}:${key.first & 255n}, block ${grouped(Number(key.second))}`;
	case "inode":
		return `inode ${grouped(Number(key.second))}`;
	case "swap":
		return `swap area ${key.first}, slot ${grouped(Number(key.second))}`;
	case "path":
		return `path ${key.first.toString(16).padStart(6, "0")} ${(key.second >> 40n).toString(16).padStart(6, "0")}…`;
	}
	return `${key.name} in ${address}`;
}

/* The chain of @trace (engine.js) as items of the list @list: what the walk visits, what it finds, the rest. */
export function drawChain(list, trace, cache, found) {
	const items = trace.chain.map((object, i) => {
		const isFound = found && i === trace.walked - 1, visited = i < trace.walked;
		const item = element("li", { class: isFound ? "found" : visited ? "visited" : "" }, keyText(cache, object));
		const said = isFound ? "found" : visited ? "visited" : "not visited";
		item.append(element("span", { class: "hidden" }, `, ${said}`));
		return item;
	});
	if (trace.length > items.length) items.push(element("li", { class: "more" }, `and ${grouped(trace.length - items.length)} more`));
	if (!items.length) items.push(element("li", { class: "none" }, "empty"));
	list.replaceChildren(...items);
}
