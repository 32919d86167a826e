/*
 * player.js - the stream's clock: where all panels are in it, and how fast they go.
 */
import { SPEEDS } from "./state.js";

const SLICE = 12; /* milliseconds of work between two pictures */
const CHUNK = 8192; /* operations between two looks at the clock */
const PICTURE_EVERY = 1 / 12; /* seconds: figures that change faster cannot be read */

export class Player {
	/* @onMove(playing): the position changed, or it plays or pauses. @onFault(error): it cannot go on. */
	constructor(onMove, onFault) {
		this.engines = [];
		this.position = this.end = 0;
		this.speed = 1;
		this.playing = false;
		this.onMove = onMove;
		this.onFault = onFault;
		this.measured = 0; /* operations a second, of the last time at full speed */
	}

	/* Begin with these engines, all before their first operation, and go to @position of @end. */
	begin(engines, end, position) {
		this.engines = engines;
		this.end = end;
		this.position = 0;
		this.forward(Math.min(position, end));
	}

	/* Go to @position: back is anew. @restart() brings all engines before their first operation. */
	seek(position, restart) {
		const to = Math.min(Math.max(position, 0), this.end);
		if (to < this.position) {
			restart();
			this.position = 0;
		}
		this.forward(to);
		this.onMove(this.playing);
	}

	forward(to) {
		try {
			for (const engine of this.engines) engine.run(to);
			this.position = to;
		} catch (error) {
			this.pause();
			this.onFault(error);
		}
	}

	play() {
		if (this.playing || this.position >= this.end) return;
		this.playing = true;
		this.owed = 0;
		this.last = this.drawn = performance.now();
		this.spent = this.done = 0;
		requestAnimationFrame((now) => this.frame(now));
		this.onMove(true);
	}

	pause() {
		if (!this.playing) return;
		this.playing = false;
		this.onMove(false);
	}

	frame(now) {
		if (!this.playing) return;
		if (this.speed === Infinity) this.sprint();
		else {
			this.owed += (Math.max(now - this.last, 0) / 1000) * this.speed;
			this.forward(Math.min(this.position + Math.floor(this.owed), this.end));
			this.owed %= 1;
		}
		this.last = now;
		if (this.position >= this.end) this.pause();
		else if (now - this.drawn >= PICTURE_EVERY * 1000) {
			this.drawn = now;
			this.onMove(true);
		}
		if (this.playing) requestAnimationFrame((next) => this.frame(next));
	}

	/* As far as one gets in a slice of time. */
	sprint() {
		const begin = performance.now(), from = this.position;
		while (this.playing && this.position < this.end && performance.now() - begin < SLICE) this.forward(Math.min(this.position + CHUNK, this.end));
		this.spent += performance.now() - begin;
		this.done += (this.position - from) * this.engines.length;
		this.measured = this.spent > 0 ? (this.done / this.spent) * 1000 : 0;
	}
}

/* "500 a second", of SPEEDS[@index]. */
export function speedText(index) {
	const speed = SPEEDS[index];
	return speed === Infinity ? "full speed" : `${speed.toLocaleString("en")} a second`;
}
