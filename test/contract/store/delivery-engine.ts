import type { Keyring } from '../../../functions/aws/keyrings.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { Delivery, DeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { erasedConversations } from '../../../functions/delivery/erasure.ts';
import { fanOut } from '../../../functions/delivery/fan-out.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { processDeliveryStream, type SequencedChange } from '../../../functions/delivery/ledger-updates.ts';
import type { OutboundRequest, OutboundResult } from '../../../functions/delivery/outbound/exchange.ts';
import { PUBLICATION, WORK } from '../../../functions/delivery/outbox.ts';
import { deliveryMoves, deliveryStore, parseDelivery } from '../../../functions/delivery/rows.ts';
import { parseProgram, simulate } from '../../../functions/delivery/simulation.ts';
import { DEFAULT_GRACE_SECONDS, DEFAULT_RETRY_POLICY } from '../../../functions/delivery/timing.ts';
import { simulatedReceiver, webhookSender } from '../../../functions/delivery/webhook-sender.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { checkSource } from '../../../functions/knowledge/check-source.ts';
import { checkSlots, sourceChecks } from '../../../functions/knowledge/source-checks.ts';
import type { CheckFinding, ExtractionRequest } from '../../../functions/knowledge/source-content.ts';
import { simulateContent, sourceContent } from '../../../functions/knowledge/source-content.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { redeliveryRounds } from '../../../functions/redelivery/jobs.ts';
import { runRedeliveryJob } from '../../../functions/redelivery/redeliver.ts';
import { gate, type Permit, requirePermit } from '../../../functions/tenancy/gate.ts';
import {
  organizationStates,
  organizationStore,
  readOrganizationState,
} from '../../../functions/tenancy/organizations.ts';
import { purgeSandboxes, purgeStore, sandboxRows } from '../../../functions/tenancy/purge.ts';
import { later, seconds } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import type { TestTables } from '../../engines.ts';
import { rowsIn } from './rows.ts';
import { aDispatcher } from './stores.ts';

const TIMEOUT_MS = 10_000;
const LEASE_SECONDS = 25;

/**
 * The workers' code over the real stores, with a clock that jumps to the next due time. Messages stay in
 * memory, and live receivers behave as their URL's program says, like simulated ones.
 */
export function anEngine(tables: TestTables, keyring: Keyring) {
  const { service, outbox, deliveries, ledger, knowledge } = tables;
  let present = new Date();
  const now = () => present;
  const log = recordedLog();
  const organizations = organizationStates(readOrganizationState(service));
  const store = deliveryStore(deliveries);
  const endpoints = endpointStore(service);
  const deliveryMessages: DeliveryMessage[] = [];
  const resent: DeliveryMessage[] = [];
  const read = new Set<unknown>();
  let shards = 0;

  const handOut = fanOut({
    subscribers: endpoints,
    deliveries: store,
    organizations,
    queues: {
      async send(_lane, messages) {
        deliveryMessages.push(...messages.map(({ message: deliveryMessage }) => deliveryMessage));
        return [];
      },
    },
    log,
    now,
  });
  const run = aDispatcher(tables, {
    organizations,
    prepareSend: webhookSender({
      gate: gate(organizations.of),
      outbound: { post },
      simulated: simulatedReceiver({
        policy: { loopback: 'refuse' },
        timeoutMs: TIMEOUT_MS,
        wait: async () => undefined,
      }),
      signingKeys: async (use) => use(keyring),
      refreshBlocks: async () => undefined,
      userAgent: 'Example/1.0',
      now,
    }),
    log,
    now,
  });
  const follow = processDeliveryStream(
    { due: dueIndex(deliveries), ledger: ledgerStore(ledger), organizations, log, now },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );
  /** Seconds that the jobs have waited, such as for new events to be fanned out. */
  let waited = 0;
  const again = runRedeliveryJob(
    {
      tables,
      jobs: redeliveryRounds(tables, committer(service.client)),
      // No dispatcher attempts them.
      deliveries: { ...store, listWaiting: async () => [] },
      endpoints,
      queues: {
        async send(_lane, messages) {
          resent.push(...messages.map(({ message }) => message));
          return [];
        },
      },
      rounds: {
        async send(events, delay = 0) {
          waited += delay;
          for (const event of events) await runRound(event);
          return [];
        },
      },
      wait: async (time) => {
        waited += time;
      },
      organizations,
      log,
      now: () => later(new Date(), seconds(waited)),
    },
    { leaseSeconds: 40, roundSeconds: 60, pageSize: 100, window: 16 },
  );
  /** Runs a round and those after it. A test that does not end may be waited for two hours. */
  async function runRound(event: BusEvent): Promise<void> {
    if (waited > 7200) throw new Error('a redelivery job does not begin');
    await again(event);
  }
  const told = new Set<string>();
  const check = checkSource(
    {
      sources: sourceChecks(knowledge, outbox, committer(service.client)),
      slots: checkSlots(knowledge, 5),
      organizations: organizationStore(service),
      organizationStates: organizations,
      fetchContent: sourceContent({
        gate: gate(organizations.of),
        organizations,
        blockedHosts: async () => [],
        extract,
      }),
      onChecked: () => undefined,
      log,
      now: () => new Date(),
      random: Math.random,
    },
    { checkEverySeconds: 3600, leaseSeconds: 75 },
  );
  const wipe = purgeSandboxes(
    {
      purges: purgeStore(service),
      remains: [
        erasedConversations(tables, () => new Date()),
        ...[outbox, deliveries, ledger, knowledge, service].map(sandboxRows),
      ],
      log,
      now: () => new Date(),
    },
    { lingerSeconds: 0, leaseSeconds: 60 },
  );

  return {
    log,

    /**
     * Fans out new events of the outbox.
     * @returns the messages of the new deliveries
     */
    async fanOut(): Promise<DeliveryMessage[]> {
      const rows = (await rowsIn(outbox)).filter(({ pk, sk }) => !read.has(`${pk} ${sk}`));
      for (const { pk, sk } of rows) read.add(`${pk} ${sk}`);
      const failed = await handOut(rows.flatMap((row) => WORK.parse(row) ?? []));
      if (failed.length > 0) throw new Error(`${failed.length} entries of the outbox failed`);
      return deliveryMessages.splice(0);
    },

    /**
     * Runs the redelivery jobs in the outbox.
     * @returns the messages of their deliveries, in the order in which they were sent
     */
    async redeliver(): Promise<DeliveryMessage[]> {
      for (const row of await rowsIn(outbox)) {
        const event = PUBLICATION.parse(row);
        if (event?.type !== 'webhook.redelivery' || told.has(event.id)) continue;
        told.add(event.id);
        await runRound(event);
      }
      return resent.splice(0);
    },

    /** Attempts a delivery until it has ended, or a number of times. */
    async attempt(
      deliveryMessage: DeliveryMessage,
      most = DEFAULT_RETRY_POLICY.maxAttempts,
    ): Promise<Delivery | undefined> {
      for (let attempt = 1; attempt <= most; attempt += 1) {
        const { nextRetryAt } = (await store.find(deliveryMessage)) ?? {};
        if (nextRetryAt !== undefined)
          present = new Date(Math.max(present.getTime(), Date.parse(nextRetryAt)));
        else if (attempt > 1) break;
        await run('slow', [{ message: deliveryMessage, receiptHandle: deliveryMessage.id }]);
        const failure = log.entries.find(({ code }) => code === 'DELIVERY_LEFT');
        if (failure) throw failure.fields.error;
      }
      return store.find(deliveryMessage);
    },

    /** Claims a delivery as a worker does that is lost afterwards. */
    claim: (deliveryMessage: DeliveryMessage) =>
      deliveryMoves(deliveries).claim(deliveryMessage, {
        now: present,
        leaseSeconds: LEASE_SECONDS,
        maxAttempts: 8,
      }),

    /**
     * Counts and watches all deliveries of an organization again, as after a repeated batch of the stream.
     */
    async follow(orgId: string): Promise<void> {
      shards += 1;
      const rows = (await rowsIn(deliveries)).filter((row) => row.orgId === orgId).map(parseDelivery);
      const changes = rows.flatMap((delivery): SequencedChange[] => [
        { kind: 'added', delivery, sequence: '' },
        ...(delivery.terminalAt === undefined
          ? []
          : [{ kind: 'ended', delivery, sequence: '' } satisfies SequencedChange]),
      ]);
      await follow(
        `shard-${shards}`,
        changes.map((change, index) => ({ ...change, sequence: String(index + 1) })),
      );
    },

    /** Checks the sources named in the outbox, and deletes the texts of those that are deleted. */
    async checkSources(): Promise<void> {
      const news = (await rowsIn(outbox))
        .map((row) => PUBLICATION.parse(row))
        .filter(
          (event): event is BusEvent =>
            event !== undefined && OF_SOURCES.includes(event.type) && !told.has(event.id),
        );
      for (const event of news.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))) {
        told.add(event.id);
        await check(event);
      }
    },

    /** Deletes what resets have left, in as many runs as necessary. */
    async purge(): Promise<void> {
      for (let run = 1; run <= 10; run += 1) if ((await wipe(() => true)).open === 0) return;
      throw new Error('the purge does not come to its end');
    },
  };
}
export type TestEngine = ReturnType<typeof anEngine>;

const OF_SOURCES = ['source.check', 'source.deleted'];

/** Checks of each URL so far. */
const fetches = new Map<string, number>();

/** The content of a live organization's source, without a network. */
async function extract({ url }: ExtractionRequest, permit: Permit): Promise<CheckFinding> {
  requirePermit(permit);
  fetches.set(url, (fetches.get(url) ?? 0) + 1);
  return simulateContent(url, fetches.get(url) ?? 1);
}

/** A receiver of a live organization, without a network. */
async function post({ url }: Pick<OutboundRequest, 'url'>, permit: Permit): Promise<OutboundResult> {
  requirePermit(permit);
  const { afterMs: durationMs, ...answer } = simulate(parseProgram(url.href), 1, TIMEOUT_MS);
  return 'status' in answer
    ? { kind: 'answered', status: answer.status, durationMs, body: '' }
    : { kind: 'failed', ...answer, durationMs };
}
