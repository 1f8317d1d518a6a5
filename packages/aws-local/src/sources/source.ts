/** Invokes a function until it is stopped. */
export interface Source {
  /** Accepts no more work; resolves when work in progress is done or returned. */
  stop(): Promise<void>;
}
