import { distinct } from './batches.ts';
import { batchesOf, deliveryUsage, memoryOf, waitsOf } from './delivery-usage.ts';
import { functionUsage, GIB, pollerUsage } from './function-usage.ts';
import { limitUsage } from './limit-usage.ts';
import { type Measured, NO_WORK, type Work, workOf } from './measured.ts';
import { type Quantities, quantities, sumOf } from './quantities.ts';
import { HOURS_A_MONTH, type Workload } from './workload.ts';

export const PARTS = [
  'api',
  'fanOut',
  'attempts',
  'hangingAttempts',
  'limits',
  'watch',
  'background',
  'storage',
  'standing',
] as const;
type Part = (typeof PARTS)[number];
export type Usage = Readonly<Record<Part, Quantities>>;

const DAYS_A_MONTH = HOURS_A_MONTH / 24;
/** Bytes that DynamoDB adds to each stored item. */
const ITEM_OVERHEAD = 100;
const WRITE_UNIT_BYTES = 1024;
/** Retention in days (docs/architecture.md). */
const KEPT_DAYS = { event: 33, delivery: 30, idempotency: 1, mark: 60 };
/** CloudWatch bills for compressed logs: about this share. */
const LOG_COMPRESSION = 0.15;
/** Bytes of a line in the gateway's log, and of a response without the text of a message. */
const ACCESS_LOG_BYTES = 380;
const ANSWER_BYTES = 1000;
/** Each queue has five pollers, which wait twenty seconds for a message. */
const EMPTY_POLLS_AN_HOUR = (5 * 3600) / 20;
/** Each instance reads data keys and keyrings every five minutes. */
const REFRESHES_AN_HOUR = 12;
/** Estimated number of functions that use a table at a time, for requests to KMS. */
const READERS_OF_A_TABLE = 5;
/** Instances with a keyring, at any load. */
const STANDING_INSTANCES = 2;

/** Billed quantities of a month. */
export function usage(workload: Workload, measured: Measured): Usage {
  const parts = {
    api: apiUsage(workload, measured),
    ...deliveryUsage(workload, measured),
    limits: limitUsage(workload, measured),
    background: backgroundUsage(workload, measured),
    storage: quantities(),
    standing: standingUsage(measured),
  };
  const logGb = sumOf(Object.values(parts)).logGb;
  return { ...parts, storage: storageUsage(workload, measured, logGb) };
}

export const totalOf = (all: Usage): Quantities => sumOf(Object.values(all));

function apiUsage(workload: Workload, measured: Measured): Quantities {
  const { messages, reads, bodySize, textSize } = workload;
  const { items, calls } = measured;
  const written = [items.event + bodySize, items.message + textSize, items.idempotency + textSize];
  const further = written.reduce((sum, bytes) => sum + Math.ceil(bytes / WRITE_UNIT_BYTES) - 1, 0);
  const message = calls['create-message']?.withKey ?? NO_WORK;
  const read = calls['list-messages']?.withoutKey ?? NO_WORK;
  return sumOf([
    callUsage(measured, 'create-message', messages, {
      ...message,
      // All three are written in one transaction, which doubles the units.
      writes: message.writes + 2 * further,
    }),
    callUsage(measured, 'list-messages', reads, read),
    quantities({
      ...gatewayUsage(measured, messages + reads),
      logGb: ((messages + reads) * ACCESS_LOG_BYTES) / GIB,
      egressGb: ((messages + reads) * (ANSWER_BYTES + textSize)) / GIB,
    }),
  ]);
}

/** Usage of the gateway and its web ACL. */
export const gatewayUsage = ({ template }: Measured, calls: number): Partial<Quantities> => ({
  apiCalls: calls,
  inspectedRequests: template.webAcls > 0 ? calls : 0,
});

/** Usage of a route's calls, without the gateway. */
export const callUsage = (measured: Measured, fn: string, calls: number, work: Work): Quantities =>
  functionUsage({
    memoryMiB: memoryOf({ measured }, fn),
    invocations: calls,
    work: workOf([calls, work]),
    waits: waitsOf(work),
  });

/** Workers behind the bus: every message is published and metered. */
function backgroundUsage(workload: Workload, measured: Measured): Quantities {
  const { messages, organizations } = workload;
  const frame = { workload, measured, seconds: workload.busyHours * 3600 };
  const { publish, meter } = measured;
  const published = batchesOf(frame, 'publish', messages);
  const metered = batchesOf(frame, 'meter', messages);
  const counters = distinct(organizations, metered.size);
  const counted = workOf([metered.batches, meter.perBatch], [messages, meter.perUnit]);
  return sumOf([
    functionUsage({
      memoryMiB: memoryOf(frame, 'publish'),
      invocations: published.batches,
      work: workOf([published.batches, publish.perBatch], [messages, publish.perUnit]),
      waits: waitsOf(publish.perBatch),
    }),
    // The bus sends each to the meter's queue.
    quantities({ queueRequests: messages }),
    pollerUsage(metered.batches, metered.size),
    functionUsage({
      memoryMiB: memoryOf(frame, 'meter'),
      invocations: metered.batches,
      // A counter is written once per organization in a batch.
      work: { ...counted, writes: counted.writes + metered.batches * meter.perBatch.writes * (counters - 1) },
      waits: waitsOf(meter.perBatch),
    }),
  ]);
}

/**
 * Storage at the end of a steady-state month.
 * @param logGb of a month
 */
function storageUsage(workload: Workload, measured: Measured, logGb: number): Quantities {
  const { deliveries, messages, bodySize, textSize, retentionDays } = workload;
  const { items, template } = measured;
  const kept = (count: number, bytes: number, days: number) =>
    (count * (bytes + ITEM_OVERHEAD) * days) / DAYS_A_MONTH / GIB;
  const tableGbMonths =
    kept(messages, items.event + bodySize, KEPT_DAYS.event) +
    kept(deliveries, items.delivery, KEPT_DAYS.delivery) +
    kept(messages, items.message + textSize, retentionDays) +
    kept(messages, items.idempotency + textSize, KEPT_DAYS.idempotency) +
    kept(messages, items.mark, KEPT_DAYS.mark);
  return quantities({
    tableGbMonths,
    recoveryGbMonths: tableGbMonths,
    logGbMonths: (logGb * LOG_COMPRESSION * template.logRetentionDays) / DAYS_A_MONTH,
  });
}

/** Usage without any work. */
function standingUsage(measured: Measured): Quantities {
  const { template, idle } = measured;
  const runs = Object.entries(idle).map(([fn, work]) =>
    callUsage(measured, fn, (template.schedules[fn] ?? 0) * HOURS_A_MONTH, work),
  );
  const queues = template.mappings.filter(({ source }) => source === 'queue').length;
  const keyUsers = template.queues * 2 + template.tables * READERS_OF_A_TABLE;
  return sumOf([
    ...runs,
    quantities({
      queueRequests: queues * EMPTY_POLLS_AN_HOUR * HOURS_A_MONTH,
      alarms: template.alarms,
      dashboards: template.dashboards,
      customMetrics: template.customMetrics,
      keys: template.keys,
      keyRequests: template.keys === 0 ? 0 : keyUsers * REFRESHES_AN_HOUR * HOURS_A_MONTH,
      secrets: template.secrets,
      webAcls: template.webAcls,
      webAclRules: template.webAclRules,
      secretReads: template.secrets * STANDING_INSTANCES * REFRESHES_AN_HOUR * HOURS_A_MONTH,
    }),
  ]);
}
