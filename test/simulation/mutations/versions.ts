import type { Mutation } from './mutation.ts';

const DELIVERY = 'functions/domain/delivery.ts';
const DELIVERIES = 'functions/store/deliveries.ts';
const OUTBOX = 'functions/store/outbox.ts';
const UPDATES = 'functions/store/due-index.ts';
const ENDPOINTS = 'functions/store/endpoint-state.ts';

/**
 * Changes of stored items that decision 14 forbids. The first of them do no harm to a version of the code
 * that runs alone, because it reads what it writes.
 */
export const HARMLESS_ALONE: readonly Mutation[] = [
  {
    name: 'an attribute is renamed in one step',
    file: OUTBOX,
    find: '  ...buildSandboxMark(event),\n  ...event,\n',
    replace: '  ...buildSandboxMark(event),\n  ...event,\n  onlyTo: undefined,\n  receiver: event.onlyTo,\n',
    also: [
      {
        file: OUTBOX,
        find: 'export const parseEvent = (row: unknown): OutboxEvent => OutboxEvent.parse(row);',
        replace:
          'export const parseEvent = (row: unknown): OutboxEvent => OutboxEvent.parse({ ...(row as object), onlyTo: (row as { receiver?: string }).receiver });',
      },
    ],
    breaks: ['right deliveries', 'nothing lost'],
  },
  {
    name: 'an attribute gets another type',
    file: UPDATES,
    find: "':attempt': [attempt],",
    replace: "':attempt': [{ ...attempt, durationMs: String(attempt.durationMs) }],",
    also: [
      {
        file: DELIVERIES,
        find: 'export const parseDelivery = (row: unknown): Delivery => Delivery.parse(row);',
        replace:
          'export const parseDelivery = (row: unknown): Delivery => {\n  const { attemptLog, ...others } = row as Delivery;\n  return Delivery.parse({ ...others, attemptLog: attemptLog.map((record) => ({ ...record, durationMs: Number(record.durationMs) })) });\n};',
      },
    ],
    breaks: ['each reads the other'],
  },
  {
    name: 'rows are found under other keys',
    file: 'functions/store/keys.ts',
    find: 'export const DELIVERY_SHARDS = 8;',
    replace: 'export const DELIVERY_SHARDS = 16;',
    breaks: ['nothing lost', 'right deliveries', 'comes to rest', 'true ledger'],
  },
  {
    name: 'a reason has a value that earlier versions cannot read',
    file: DELIVERY,
    find: "export const SkipReason = z.enum(['endpoint_disabled', 'endpoint_deleted',",
    replace: "export const SkipReason = z.enum(['endpoint_removed', 'endpoint_disabled', 'endpoint_deleted',",
    also: [
      {
        file: UPDATES,
        find: "':reason': reason,",
        replace: "':reason': reason === 'endpoint_deleted' ? 'endpoint_removed' : reason,",
      },
      {
        file: DELIVERIES,
        find: 'export const parseDelivery = (row: unknown): Delivery => Delivery.parse(row);',
        replace:
          "export const parseDelivery = (row: unknown): Delivery => {\n  const delivery = Delivery.parse(row);\n  return String(delivery.terminalReason) === 'endpoint_removed' ? { ...delivery, terminalReason: 'endpoint_deleted' } : delivery;\n};",
      },
    ],
    breaks: ['each reads the other'],
  },
];

/**
 * Changes that show without another version too: by the projection of an index, or by items of a later
 * version.
 */
export const HARMFUL_ALONE: readonly Mutation[] = [
  {
    name: 'an optional field of a message is required',
    file: DELIVERY,
    find: '    webhookId: true,\n    eventId: true,\n',
    replace: '    webhookId: true,\n    eventId: true,\n    eventType: true,\n',
    also: [
      {
        file: DELIVERY,
        find: '  eventId,\n  ...withTrace(traceId),\n});',
        replace: '  eventId,\n  eventType,\n  ...withTrace(traceId),\n});',
      },
      {
        file: DELIVERY,
        find: '  traceId,\n}: Delivery): DeliveryMessage',
        replace: '  traceId,\n  eventType,\n}: Delivery): DeliveryMessage',
      },
    ],
    breaks: ['each reads the other', 'nothing lost'],
  },
  {
    name: 'an endpoint is replaced by its known attributes when it is marked as slow',
    file: ENDPOINTS,
    find: '      await markEndpoint(service, { orgId, id }, slow);',
    replace:
      '      const row = await readItem(service, { ...keys.endpoint(orgId, id) });\n      const endpoint = row && Endpoint.parse(row);\n      const Item = { ...keys.endpoint(orgId, id), ...endpoint, slowUntil: until.toISOString() };\n      if (endpoint) await service.client.send(new PutCommand({ TableName: service.name, Item }));\n      if (until.getTime() < 0) await markEndpoint(service, { orgId, id }, slow);',
    also: [
      {
        file: ENDPOINTS,
        find: 'import { UpdateCommand }',
        replace: 'import { PutCommand, UpdateCommand }',
      },
    ],
    breaks: ['nothing unknown is dropped'],
  },
  {
    name: 'a reader refuses unknown attributes',
    file: 'functions/domain/events.ts',
    find: 'export const OutboxEvent = z.object({',
    replace: 'export const OutboxEvent = z.strictObject({',
    breaks: ['each reads the other'],
  },
];
