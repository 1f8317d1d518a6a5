import type { Block } from './figure.ts';

/** What a section is told. */
export interface Bench {
  /** Runs of each figure; what the section takes for right where nothing is said. */
  runs?: number;
  /** Seconds of each window in which load is held. */
  seconds?: number;
  /** All combinations, instead of one dimension at a time. */
  isFull: boolean;
  /** By which the rows of the section `growth` are multiplied. */
  growthScale: number;
  /** As little as gives a ratio. */
  isSmoke: boolean;
  /** What sections find out for one another. */
  found: { eventsPerSecond?: number };
  /** Says what is being done. */
  progress(text: string): void;
  /** A place for what is drawn, beside the report. @returns the file's name */
  keepDrawing(name: string, svg: string): Promise<string>;
}

/** A part of the benchmark that can be run by itself. */
export interface Section {
  name: string;
  /** One line for the help. */
  about: string;
  run(bench: Bench): Promise<Block[]>;
}
