/** Something that feeds a function until it is stopped. */
export interface Source {
  /** Takes no more work; settles when what was in hand is done, or given back. */
  stop(): Promise<void>;
}
