import type { EndpointOutcome, MoveResult } from '../domain/delivery.ts';
import { computeEndpointEffect, type Endpoint, type EndpointEffect } from '../domain/endpoint.ts';
import {
  AT_RISK_SECONDS,
  computeUnseenSeconds,
  isKnownAtRisk,
  isTooQuickToSee,
  mayExhaustSoon,
  needsRiskMark,
} from '../domain/failure-streak.ts';
import { Defect } from '../domain/problem.ts';

/** Storage of an endpoint's failure count. */
export interface FailureStreaks {
  find(orgId: Endpoint['orgId'], id: Endpoint['id']): Promise<Endpoint | undefined>;
  /**
   * Starts a streak unless one exists.
   * @returns the endpoint with its streak; undefined when it does not exist
   */
  beginStreak(orgId: Endpoint['orgId'], id: Endpoint['id']): Promise<Endpoint | undefined>;
  markAtRisk(orgId: Endpoint['orgId'], id: Endpoint['id'], until: Date): Promise<void>;
}

/** Effect of a delivery's end on its endpoint as read. */
interface StreakVerdict {
  effect: EndpointEffect;
  at: Date;
  seen?: Endpoint | undefined;
}

type EndpointRef = Pick<Endpoint, 'orgId' | 'id'>;
type Move = (outcome: Pick<EndpointOutcome, 'endpoint' | 'effect' | 'at'>) => Promise<MoveResult>;

/**
 * Tries while the endpoint keeps changing: the number of deliveries that may fail at one endpoint at once.
 */
const MAX_TRIES = 20;
/** How often a success waits for a failure that is about to be counted. */
const MAX_WAITS = 3;
const WAIT_SECONDS = 0.05;

/**
 * Ends deliveries with their effect on the count of consecutive failures, in one order for all workers: that
 * of `terminalAt`. A failure starts a streak before it reads the time of its end. A success that sees no
 * streak has therefore ended before every failure still to be counted, and one that sees a streak ends it.
 */
export function createFailureCounter(
  {
    streaks,
    now,
    wait,
  }: { streaks: FailureStreaks; now: () => Date; wait(seconds: number): Promise<unknown> },
  { attemptSeconds, maxAttempts }: { attemptSeconds: number; maxAttempts: number },
) {
  async function markAtRisk(endpoint: Endpoint): Promise<void> {
    if (!needsRiskMark(endpoint, now())) return;
    const until = new Date(now().getTime() + AT_RISK_SECONDS * 1000);
    await streaks.markAtRisk(endpoint.orgId, endpoint.id, until);
  }

  /** Reads the endpoint and writes the delivery's end, until the endpoint did not change in between. */
  async function endDelivery(
    { orgId, id }: EndpointRef,
    decide: (tries: number) => Promise<StreakVerdict>,
    move: Move,
  ): Promise<{ result: MoveResult; effect: EndpointEffect }> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const { effect, at, seen } = await decide(tries);
      const { consecutiveFailures, streak } = seen ?? {};
      const result = await move({
        endpoint: {
          orgId,
          id,
          ...(consecutiveFailures === undefined ? {} : { consecutiveFailures }),
          ...(streak === undefined ? {} : { streak }),
        },
        effect,
        at,
      });
      if (result !== 'endpoint-changed') return { result, effect };
    }
    throw new Defect(`endpoint ${id} changed ${MAX_TRIES} times while a delivery to it was being settled`);
  }

  return {
    /**
     * Marks the endpoint before a delivery to it can end as a failure.
     * @param attempt number of the attempt that begins
     */
    async markBeforeExhaustion(endpoint: Endpoint, attempt: number): Promise<void> {
      if (mayExhaustSoon(attempt, maxAttempts)) await markAtRisk(endpoint);
    },

    /** @param known the endpoint as read for the attempt */
    succeed(known: Endpoint, { readAt, endedAt }: { readAt: Date; endedAt: Date }, move: Move) {
      const canSkipRead = isTooQuickToSee(known, readAt, endedAt, attemptSeconds);
      const decide = async (tries: number): Promise<StreakVerdict> => {
        if (canSkipRead) return { effect: 'none', at: endedAt };
        for (let waits = 0; ; waits++) {
          const seen = await streaks.find(known.orgId, known.id);
          const effect = computeEndpointEffect(seen, 'succeeded');
          if (effect === 'none') return { effect, at: seen?.status === 'active' ? endedAt : now() };
          // Bounded, because many successes could otherwise restart a failure without end.
          const isStreakUncounted = seen?.consecutiveFailures === 0;
          if (!isStreakUncounted || waits === MAX_WAITS || tries > 1) return { effect, at: now(), seen };
          await wait(WAIT_SECONDS);
        }
      };
      return endDelivery(known, decide, move);
    },

    /** @param known the endpoint as read for the attempt */
    async exhaust(known: Endpoint, move: Move) {
      if (!isKnownAtRisk(known, now())) {
        await markAtRisk(known);
        await wait(computeUnseenSeconds(attemptSeconds));
      }
      const decide = async (): Promise<StreakVerdict> => {
        const before = now();
        let seen = await streaks.find(known.orgId, known.id);
        if (seen?.status === 'active' && seen.streak === undefined)
          seen = await streaks.beginStreak(known.orgId, known.id);
        const effect = computeEndpointEffect(seen, 'exhausted');
        // Who enables a disabled endpoint expects that each later failure counts.
        return { effect, at: effect === 'none' ? before : now(), seen };
      };
      return endDelivery(known, decide, move);
    },
  };
}
