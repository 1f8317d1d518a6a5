import type { StackContext } from '../../../lib/local-run/start/synthesis.ts';
import type { Place } from './place.ts';

/** The results of the honest organizations in one turn. */
export interface Turn {
  /** Milliseconds, by metric. The first metric is the one that is judged. */
  samples: Readonly<Record<string, readonly number[]>>;
  /** Honest calls, and those of them that were answered 429, 5xx or not at all. */
  calls: number;
  refused: number;
  /** Missing results when the turn was given up. Their samples are lower bounds, or absent. */
  missing: number;
}

/** The load of the hostile organization in one turn. */
export interface HostileLoad {
  /**
   * Ends it and waits until it cannot delay the next turn.
   * @returns a summary in one line
   */
  stop(): Promise<string>;
}

/** A scenario whose organizations are set up. */
export interface Prepared {
  honestTurn(seconds: number): Promise<Turn>;
  startHostile(): Promise<HostileLoad>;
  /** Ends what the set-up started. */
  close?(): Promise<unknown>;
}

/** A way in which one organization can delay the others. */
export interface Scenario {
  name: string;
  /** The measurement, in one line. */
  about: string;
  /** The shared resource, and how its size and the loads are scaled to one machine. */
  scarce: string;
  /** Settings of the stack. */
  context: StackContext;
  /** From the start of the hostile load to the start of the honest turn beside it. */
  leadSeconds: number;
  /** @param seconds of a turn, by which a set-up may be scaled */
  prepare(place: Place, terms: { seconds: number; progress(text: string): void }): Promise<Prepared>;
}
