import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

/** A line of a function or another part of the run. */
export interface LogLine {
  source: string;
  text: string;
}

/**
 * Log of the functions: at most two files of `maxBytes`, `path` and the older `path.1`. Synchronous, so that
 * the last lines before a crash are written.
 */
export class LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #descriptor: number;
  #size: number;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#descriptor = openSync(path, 'a');
    this.#size = fstatSync(this.#descriptor).size;
  }

  append(line: LogLine): void {
    const text = `${line.source} ${line.text}\n`;
    const bytes = Buffer.byteLength(text);
    if (this.#size > 0 && this.#size + bytes > this.#maxBytes) this.#turnOver();
    writeSync(this.#descriptor, text);
    this.#size += bytes;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #turnOver(): void {
    closeSync(this.#descriptor);
    renameSync(this.#path, `${this.#path}.1`);
    this.#descriptor = openSync(this.#path, 'a');
    this.#size = 0;
  }
}
