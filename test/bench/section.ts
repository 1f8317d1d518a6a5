import type { Block } from './figure.ts';

/** The options of a section. */
export interface Bench {
  /** Runs of each figure; a section has its own default. */
  runs?: number;
  /** Seconds of each window under load. */
  seconds?: number;
  /** All combinations, instead of one dimension at a time. */
  isFull: boolean;
  /** The factor for the rows of the section `growth`. */
  growthScale: number;
  /** The minimum that gives a ratio. */
  isSmoke: boolean;
  /** Results that sections share. */
  found: { eventsPerSecond?: number };
  /** Reports progress. */
  progress(text: string): void;
  /**
   * A file for a plot or a profile, beside the report.
   * @param name with its extension
   * @returns the file's name
   */
  keepFile(name: string, content: string): Promise<string>;
}

/** A part of the benchmark that can run alone. */
export interface Section {
  name: string;
  /** One line for the help. */
  about: string;
  run(bench: Bench): Promise<Block[]>;
}
