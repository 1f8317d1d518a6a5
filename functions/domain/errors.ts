/**
 * A defect of the code, or rows that contradict each other. Its message is logged, so it holds identifiers
 * and fixed text alone, and nothing that a caller sent.
 */
export class Defect extends Error {
  override name = 'Defect';
}

/**
 * Another worker is processing the same thing. Not a failure: it can be processed once that has ended. Its
 * message is logged, so it holds identifiers and fixed text alone.
 */
export class UnderWay extends Error {
  override name = 'UnderWay';
  /** Seconds until the next try; the queue's visibility timeout when absent. */
  readonly againInSeconds: number | undefined;

  constructor(message: string, againInSeconds?: number) {
    super(message);
    this.againInSeconds = againInSeconds;
  }
}
