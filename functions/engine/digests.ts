import type { BusEvent } from '../domain/bus.ts';
import { DIGEST_RESEND_SECONDS, type DueDigest, digestEvent } from '../domain/mail-budget.ts';
import { type DuePage, type Position, reporting, throughPages } from './due-pages.ts';
import type { Log } from './log.ts';

export interface DigestPorts {
  due: {
    find(until: Date, after?: Position): Promise<DuePage<DueDigest>>;
    postpone(entry: DueDigest, until: Date): Promise<void>;
  };
  mails: {
    /** @returns the events that the queue did not take */
    send(events: readonly BusEvent[]): Promise<BusEvent[]>;
  };
  log: Log;
  now: () => Date;
}

/**
 * Sends a message for every digest that is due, then moves its time on, so that one whose message gets lost
 * comes again. A message too many changes nothing: the e-mail is claimed.
 */
export function sendDueDigests({ due, mails, log, now }: DigestPorts) {
  /** @throws what kept some from being read or sent, after the rest was processed */
  return async (goOn: () => boolean): Promise<void> => {
    const failures: unknown[] = [];

    async function send(entries: readonly DueDigest[]): Promise<void> {
      const events = new Map(entries.map((entry) => [entry, digestEvent(entry, now())]));
      const refused = new Set((await mails.send([...events.values()])).map(({ id }) => id));
      const until = new Date(now().getTime() + DIGEST_RESEND_SECONDS * 1000);
      for (const [entry, { id }] of events) if (!refused.has(id)) await due.postpone(entry, until);
    }

    const until = now();
    try {
      await throughPages((after) => due.find(until, after), send, goOn, reporting(log, failures));
    } catch (error) {
      log('DIGESTS_NOT_SENT', { error });
      failures.push(error);
    }
    if (failures.length > 0) throw failures[0];
  };
}
