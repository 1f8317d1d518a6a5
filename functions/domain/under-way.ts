/**
 * Somebody else has in hand what is asked for. Nothing has failed: it can be dealt with once that is known to have ended. The message is written into
 * the log, so that it holds our own words and identifiers alone.
 */
export class UnderWay extends Error {
  override name = 'UnderWay';
  /** After how many seconds it is worth another try; the queue's own time when absent. */
  readonly againInSeconds: number | undefined;

  constructor(message: string, againInSeconds?: number) {
    super(message);
    this.againInSeconds = againInSeconds;
  }
}
