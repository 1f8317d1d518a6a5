import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { get, type Table } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { deliveriesInHour, ledgerStore } from '../../../functions/delivery/ledger.ts';
import { auditLedger } from '../../../functions/delivery/ledger-updates.ts';
import { reconcileDeliveries } from '../../../functions/delivery/reconcile.ts';
import { deliveryMoves, deliveryStore } from '../../../functions/delivery/rows.ts';
import { scheduleSourceChecks } from '../../../functions/knowledge/schedule-source-checks.ts';
import { dueSources, MAX_SOURCES, sourceStore } from '../../../functions/knowledge/sources.ts';
import { MAX_ENDPOINTS } from '../../../functions/receivers/endpoint.ts';
import { type RedeliveryJob, redeliveryJobs } from '../../../functions/redelivery/jobs.ts';
import { resumeRedeliveryJobs } from '../../../functions/redelivery/redeliver.ts';
import {
  buildSandboxMark,
  DUE_SHARDS,
  DUE_STATES,
  type DueState,
  keys,
  LEDGER_SHARDS,
  REDELIVERY_RUN_SHARDS,
  SOURCE_DUE_SHARDS,
} from '../../../functions/tenancy/keys.ts';
import { purgeSandboxes, purgeStore, sandboxRows } from '../../../functions/tenancy/purge.ts';
import {
  aDelivery,
  aLedgerEntry,
  anEndpoint,
  aRedeliveryJob,
  aSandboxTenant,
  aSource,
  later,
  NOW,
  seconds,
} from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { casesOf } from '../../support/cases.ts';

const WORKERS_DIRECTORY = join(import.meta.dirname, '../../../functions/workers');

/** Deliveries in each state of the organization that has most, and runs of the worker to serve the others. */
const MANY = casesOf(4_000, 300_000);
const TIMEOUT_MS = casesOf(60_000, 400_000);
const RUNS = 2;
/** Rows of a page of a query without a limit. */
const PAGE = 50;

/** The stores of a worker: each of its calls takes one tick of the clock, and a run has some of them. */
function aService(ticks: number) {
  const clock = new VirtualClock();
  const tables = memoryTables();
  const tick = () => clock.elapse(0.01);
  const timed = (client: Table['client']): Table['client'] =>
    Object.create(client, {
      send: {
        value: (command: { input: { Limit?: number } }) => {
          tick();
          if (command.constructor.name === 'QueryCommand') command.input.Limit ??= PAGE;
          return client.send(command as never);
        },
      },
    });
  const own = Object.fromEntries(
    Object.entries(tables).map(([name, { client, ...table }]) => [name, { ...table, client: timed(client) }]),
  ) as Record<keyof typeof tables, Table>;
  const log = recordedLog();
  const run = (worker: (hasTime: () => boolean) => Promise<unknown>) => {
    const end = later(clock.now(), ticks * 10);
    return worker(() => clock.now() < end);
  };
  return { clock, tick, tables, own, log, now: clock.now, run };
}

const ofEach = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Items until each shard has one. */
function oneInEach<T>(shards: number, make: () => T, shardOf: (item: T) => string): T[] {
  const ids = new Map<string, T>();
  while (ids.size < shards) {
    const item = make();
    ids.set(shardOf(item), item);
  }
  return [...ids.values()];
}

/**
 * A worker, an organization that has much more waiting than a run can do, and others with one entry in each
 * shard of each phase.
 * @returns those entries of the others that were served, and how many there are
 */
type Case = () => Promise<{ run(): Promise<unknown>; served(): number; all: number }>;

const WORKERS: [worker: string, what: string, setUp: Case][] = [
  ...casesOf([-3600], [-3600, 0]).map((since): [string, string, Case] => [
    'reconcile',
    since === 0 ? 'deliveries that are due at the same time' : 'deliveries that have been due for an hour',
    async () => {
      const { tables, own, tick, log, now, run } = aService(600);
      const store = deliveryStore(tables.deliveries);
      const moves = deliveryMoves(tables.deliveries);
      async function wait(state: DueState, orgId: OrgId, at: Date, made = aDelivery({ orgId })) {
        const delivery = { ...made, orgId };
        await store.add(delivery);
        if (state === 'watched') await dueIndex(tables.deliveries).watch(delivery, at);
        else {
          const turn = { at: 0, era: 1, attempts: 0, missed: 0 };
          await moves.keepTurn(delivery, { turn, until: at, isParked: true, now: NOW });
        }
        return delivery.id;
      }
      const neighbours = new Set<string>();
      const busy = newId('org', NOW);
      for (const state of DUE_STATES) {
        for (let count = 0; count < MANY; count += 1) await wait(state, busy, later(NOW, seconds(since)));
        const deliveries = oneInEach(DUE_SHARDS, aDelivery, ({ id }) => keys.dueOf(state, id));
        for (const delivery of deliveries)
          neighbours.add(await wait(state, newId('org', NOW), NOW, delivery));
      }
      const sent: string[] = [];
      const worker = reconcileDeliveries(
        {
          due: dueIndex(own.deliveries),
          queues: {
            async send(_lane, messages) {
              tick();
              sent.push(...messages.map(({ message }) => message.id));
              return [];
            },
            backlog: async () => 0,
          },
          log,
          now,
        },
        { graceSeconds: 900 },
      );
      return {
        run: () => run(worker),
        served: () => sent.filter((id) => neighbours.has(id)).length,
        all: DUE_STATES.length * DUE_SHARDS,
      };
    },
  ]),
  [
    'schedule-source-checks',
    'as many sources as there may be',
    async () => {
      const { tables, own, tick, log, now, run } = aService(200);
      const commit = committer(tables.service.client);
      const store = sourceStore(tables.knowledge);
      const dueAt = later(NOW, -seconds(7200)).toISOString();
      for (const tenant of [aSandboxTenant(), { orgId: newId('org', NOW), generation: 0 }])
        for (let count = 0; count < MAX_SOURCES; count += 1)
          await commit(store.add(aSource({ ...tenant, createdAt: dueAt })));
      const others = oneInEach(
        SOURCE_DUE_SHARDS,
        () => aSource({ orgId: newId('org', NOW), createdAt: later(NOW, -seconds(3600)).toISOString() }),
        ({ id }) => keys.dueSourcesOf(id),
      );
      for (const source of others) await commit(store.add(source));
      const sent: string[] = [];
      const worker = scheduleSourceChecks({
        due: dueSources(own.knowledge),
        checks: {
          async send(events) {
            tick();
            sent.push(...events.map(({ orgId }) => orgId));
            return [];
          },
        },
        log,
        now,
      });
      return {
        run: () => run(worker),
        served: () => others.filter(({ orgId }) => sent.includes(orgId)).length,
        all: others.length,
      };
    },
  ],
  [
    'resume-redelivery-jobs',
    'a job of each endpoint',
    async () => {
      const { tables, own, tick, log, now, run } = aService(20);
      const commit = committer(tables.service.client);
      const jobs = redeliveryJobs(tables.service);
      const start = async (job: RedeliveryJob, at: Date) =>
        commit(jobs.start({ ...job, createdAt: at.toISOString() }));
      // Its rows are the first.
      const busy = newId('org', later(NOW, -1));
      for (let count = 0; count < MAX_ENDPOINTS; count += 1)
        await start(aRedeliveryJob({ orgId: busy }), later(NOW, -seconds(7200)));
      const others = oneInEach(
        REDELIVERY_RUN_SHARDS,
        () => aRedeliveryJob({ orgId: newId('org', NOW) }),
        (job) => keys.redeliveryRun(job).pk,
      );
      for (const job of others) await start(job, later(NOW, -seconds(3600)));
      const sent: string[] = [];
      const worker = resumeRedeliveryJobs(
        {
          jobs: redeliveryJobs(own.service),
          rounds: {
            async send(events) {
              tick();
              sent.push(...events.map(({ orgId }) => orgId));
              return [];
            },
          },
          organizations: memoryOrganizationStates(),
          log,
          now,
        },
        { graceSeconds: 900 },
      );
      return {
        run: () => run(worker),
        served: () => others.filter(({ orgId }) => sent.includes(orgId)).length,
        all: others.length,
      };
    },
  ],
  [
    'purge',
    'a generation of many rows',
    async () => {
      const { tables, own, log, now, run } = aService(60);
      const commit = committer(tables.service.client);
      const purges = purgeStore(tables.service);
      const { client, name } = tables.deliveries;
      async function reset(tenant: ReturnType<typeof aSandboxTenant>, since: number, rows: number) {
        const requestedAt = later(NOW, -seconds(since)).toISOString();
        await commit([purges.order({ ...tenant, requestedAt })]);
        for (let row = 0; row < rows; row += 1)
          await deliveryStore({ client, name }).add(aDelivery({ ...tenant, ...buildSandboxMark(tenant) }));
      }
      await reset(aSandboxTenant(), 9000, 6_000);
      const others = ofEach(3, () => aSandboxTenant());
      for (const tenant of others) await reset(tenant, 7200, 1);
      const worker = purgeSandboxes(
        {
          purges: purgeStore(own.service),
          remains: [sandboxRows(own.deliveries), sandboxRows(own.service)],
          log,
          now,
        },
        { lingerSeconds: 3600, leaseSeconds: 960 },
      );
      return {
        run: () => run(worker),
        served: () =>
          others.filter(({ orgId }) =>
            log.entries.some(({ code, fields }) => code === 'GENERATION_WIPED' && fields.orgId === orgId),
          ).length,
        all: others.length,
      };
    },
  ],
  [
    'audit-ledger',
    'hours of many deliveries',
    async () => {
      const { tables, own, log, now, run } = aService(900);
      const ledger = ledgerStore(tables.ledger);
      const store = deliveryStore(tables.deliveries);
      let part = 0;
      /** An hour of an endpoint whose deliveries are open, and not in the due index. */
      async function lose(orgId: OrgId, hoursAgo: number, count: number, webhookId = anEndpoint().id) {
        const born = later(NOW, -seconds(hoursAgo * 3600));
        const hour = new Date(Math.floor(born.getTime() / 3_600_000) * 3_600_000).toISOString();
        part += 1;
        const position = String(part);
        await ledger.add(
          { shardId: 'shard', first: position, last: position },
          aLedgerEntry({ orgId, webhookId, hour, owed: count, succeeded: 0, exhausted: 0, skipped: 0 }),
        );
        return ofEach(count, () => aDelivery({ id: newId('dlv', born), orgId, webhookId })).map(
          async (delivery) => {
            await store.add(delivery);
            return delivery;
          },
        );
      }
      const busy = newId('org', NOW);
      const endpoints = oneInEach(
        LEDGER_SHARDS,
        () => anEndpoint().id,
        (id) => keys.active(id, 0, NOW.toISOString()).pk,
      );
      for (const id of endpoints) await Promise.all(await lose(busy, 3, MANY / 8, id));
      const others = [];
      for (const age of [3, 6, 24, 98]) others.push(...(await lose(newId('org', NOW), age, 1)));
      const lost = await Promise.all(others);
      const worker = auditLedger(
        {
          ledger: ledgerStore(own.ledger),
          readDeliveries: deliveriesInHour(own.deliveries),
          due: dueIndex(own.deliveries),
          organizations: memoryOrganizationStates(),
          log,
          now,
        },
        { graceSeconds: 900 },
      );
      let watched = 0;
      return {
        async run() {
          await run(worker);
          const rows = await Promise.all(
            lost.map(({ webhookId, id }) => get(tables.deliveries, { ...keys.delivery(webhookId, 0, id) })),
          );
          watched = rows.filter((row) => row?.dueIn !== undefined).length;
        },
        served: () => watched,
        all: others.length,
      };
    },
  ],
];

describe('an organization with one entry', () => {
  it.each(WORKERS)(
    `is served by %s within ${RUNS} runs although another has %s waiting`,
    async (_worker, _what, setUp) => {
      const { run, served, all } = await setUp();
      for (let count = 0; count < RUNS; count += 1) await run();
      expect(served()).toBe(all);
    },
    TIMEOUT_MS,
  );

  it('is served by each scheduled worker', () => {
    const scheduled = readdirSync(WORKERS_DIRECTORY).filter((file) =>
      readFileSync(join(WORKERS_DIRECTORY, file), 'utf8').includes('scheduledWorker('),
    );
    expect(new Set(WORKERS.map(([worker]) => `${worker}.ts`))).toEqual(new Set(scheduled));
  });
});
