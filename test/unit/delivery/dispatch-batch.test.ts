import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { attemptDelivery } from '../../../functions/delivery/attempt.ts';
import { timedOutAfter, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import {
  ATTEMPTS_PER_ORGANIZATION,
  HELD_UP_AFTER_MS,
  processDeliveryMessages,
} from '../../../functions/delivery/dispatch.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import { deliveryMoves, deliveryStore } from '../../../functions/delivery/rows.ts';
import { settlements } from '../../../functions/delivery/settle.ts';
import {
  DEFAULT_GRACE_SECONDS,
  DEFAULT_RETRY_POLICY,
  MAX_ATTEMPTS,
} from '../../../functions/delivery/timing.ts';
import { endpointTurns, rateScheduleStore } from '../../../functions/delivery/turns.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointStateStore } from '../../../functions/receivers/endpoint.ts';
import { endpointPaces, SLOW_AFTER_SECONDS } from '../../../functions/receivers/pace.ts';
import { aDelivery, anEndpoint, anEvent, NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { noMeasures } from '../../doubles/no-measures.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { Timeline } from '../../simulation/timeline.ts';

const ATTEMPT_MS = 10_000;
/** A call of a table or a queue. */
const CALL_MS = 5;
const BATCH = 10;

interface Receiver {
  endpoint: Endpoint;
  /** Milliseconds until it answers; a time over the deadline means never. */
  answerMs: number;
}

/** Processes a batch with a message for each of `receivers`, in virtual time, over tables in memory. */
async function processBatch(receivers: readonly Receiver[], lane: Lane = 'fresh') {
  const timeline = new Timeline();
  const { service, outbox, deliveries: rows, rates } = memoryTables();
  const { now } = timeline;
  const log = recordedLog();
  const deliveries = {
    ...deliveryStore(rows),
    ...deliveryMoves(rows),
    ...settlements(
      { service, outbox, deliveries: rows },
      {
        graceSeconds: DEFAULT_GRACE_SECONDS,
        maxAttempts: MAX_ATTEMPTS,
        commitSeconds: 20,
        measures: noMeasures,
        log,
      },
    ),
  };
  const answers = new Map(receivers.map(({ endpoint, answerMs }) => [endpoint.id, answerMs]));
  const endpoints = new Map(receivers.map(({ endpoint }) => [endpoint.id, endpoint]));
  /** Deliveries of an organization that are attempted, or wait in the batch for their start. */
  const held = new Map<string, Set<string>>();
  let mostHeld = 0;
  const hold = (orgId: string, id: string) => {
    const own = held.get(orgId) ?? new Set();
    held.set(orgId, own.add(id));
    mostHeld = Math.max(mostHeld, own.size);
  };
  const started: { webhookId: string; atMs: number }[] = [];
  let requests = 0;
  const moved: Lane[] = [];
  const take = endpointTurns({ schedules: rateScheduleStore(rates), deliveries, log, now });
  const attempt = attemptDelivery(
    {
      deliveries,
      paces: endpointPaces({ ...endpointStateStore(service), log, now }, ATTEMPT_MS / 1000),
      queues: { crowded: async () => false },
      prepareSend:
        async ({ id, orgId, webhookId }) =>
        async (_claimed, _event, onSlow) => {
          hold(orgId, id);
          started.push({ webhookId, atMs: now().getTime() - NOW.getTime() });
          const answerMs = answers.get(webhookId) ?? 0;
          await timeline.sleep(Math.min(answerMs, SLOW_AFTER_SECONDS * 1000));
          if (answerMs >= SLOW_AFTER_SECONDS * 1000) onSlow();
          await timeline.sleep(Math.max(0, Math.min(answerMs, ATTEMPT_MS) - SLOW_AFTER_SECONDS * 1000));
          held.get(orgId)?.delete(id);
          return answerMs > ATTEMPT_MS ? timedOutAfter(ATTEMPT_MS) : { status: 204 };
        },
      async takeTurn(limited) {
        const turn = await take(limited);
        if (turn.kind === 'start') hold(limited.message.orgId, limited.message.id);
        return turn;
      },
      measures: noMeasures,
      log,
      now,
      wait: (seconds) => timeline.sleep(seconds * 1000),
    },
    { retry: DEFAULT_RETRY_POLICY, leaseSeconds: 25 },
  );
  const event = anEvent();
  const run = processDeliveryMessages({
    attempt,
    organizations: memoryOrganizationStates(),
    contexts: async () => (message) => ({ endpoint: endpoints.get(message.webhookId), event }),
    queues: {
      async send(to, messages) {
        requests += 1;
        moved.push(...messages.map(() => to));
        await timeline.sleep(CALL_MS);
        return [];
      },
      async hide() {
        requests += 1;
      },
    },
    log,
    now,
  });
  const messages = await Promise.all(
    receivers.map(async ({ endpoint: { id: webhookId, orgId } }, index) => {
      const delivery = aDelivery({ orgId, webhookId });
      await deliveries.add(delivery);
      return { message: toDeliveryMessage(delivery), receiptHandle: String(index) };
    }),
  );
  const staying = await timeline.run(run(lane, messages));
  return {
    started,
    moved,
    mostHeld,
    staying: staying.length,
    /** Requests to SQS by the function. */
    requests,
    tookMs: timeline.clock.ms - NOW.getTime(),
  };
}

/** A full batch for one endpoint. */
const forOne = (answerMs: number, changes: Partial<Endpoint> = {}): Receiver[] =>
  Array<Receiver>(BATCH).fill({ endpoint: anEndpoint(changes), answerMs });

describe('full batch for one endpoint', () => {
  it.each([[0], [100], [200], [500], [990]])(
    'is attempted in full when the endpoint answers in %i ms, without a request to a queue',
    async (answerMs) => {
      expect(await processBatch(forOne(answerMs))).toMatchObject({ moved: [], staying: 0, requests: 0 });
    },
  );

  it.each([
    ['answers in 1.1 s', 1100],
    ['answers in 3 s', 3000],
    ['does not answer', ATTEMPT_MS + 1],
  ])('goes to the slow queue where it waits for an endpoint that %s', async (_, answerMs) => {
    const { started, moved, tookMs } = await processBatch(forOne(answerMs));

    expect(started.length).toBe(ATTEMPTS_PER_ORGANIZATION);
    expect(moved.filter((lane) => lane === 'slow')).toHaveLength(BATCH - ATTEMPTS_PER_ORGANIZATION);
    expect(tookMs).toBeLessThan(HELD_UP_AFTER_MS + ATTEMPT_MS);
  });
});

/** Batches of up to ten messages of some organizations' endpoints, limited or not, fast or slow. */
const batches = fc
  .record({
    organizations: fc.integer({ min: 1, max: 3 }),
    endpoints: fc.array(
      fc.record({
        organization: fc.nat(),
        maxPerSecond: fc.option(fc.constantFrom(1, 3, 20, 1000), { nil: undefined }),
        answerMs: fc.constantFrom(0, 50, 200, 900, 1500, ATTEMPT_MS + 1),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    messages: fc.array(fc.nat(), { minLength: 1, maxLength: BATCH }),
  })
  .map(({ organizations, endpoints, messages }) => {
    const orgIds = Array.from({ length: organizations }, () => newId('org', NOW));
    const receivers = endpoints.map(({ organization, maxPerSecond, answerMs }): Receiver => {
      const orgId = orgIds[organization % organizations];
      return {
        endpoint: anEndpoint({ ...(orgId && { orgId }), ...(maxPerSecond && { maxPerSecond }) }),
        answerMs,
      };
    });
    return messages.flatMap((message) => receivers[message % receivers.length] ?? []);
  });

it('an organization never has more attempts and waits in a batch at once than its share', async () => {
  await fc.assert(
    fc.asyncProperty(batches, fc.constantFrom<Lane>('fresh', 'retry'), async (receivers, lane) => {
      const { mostHeld, started, moved, staying, tookMs } = await processBatch(receivers, lane);
      expect(mostHeld).toBeLessThanOrEqual(ATTEMPTS_PER_ORGANIZATION);
      expect(tookMs).toBeLessThan(HELD_UP_AFTER_MS + 1000 + ATTEMPT_MS + 1000);
      expect(started.length + moved.length + staying).toBeGreaterThanOrEqual(receivers.length);
      // Starts at an endpoint keep to its limit: none of this batch is late.
      for (const { endpoint } of receivers) {
        const { maxPerSecond } = endpoint;
        if (maxPerSecond === undefined || maxPerSecond > 100) continue;
        const own = started.filter(({ webhookId }) => webhookId === endpoint.id);
        for (const [index, { atMs }] of own.entries())
          for (const [further, later] of own.slice(index + 1).entries())
            expect(((later.atMs - atMs + 110) * maxPerSecond) / 1000 + 1).toBeGreaterThanOrEqual(further + 2);
      }
    }),
  );
});
