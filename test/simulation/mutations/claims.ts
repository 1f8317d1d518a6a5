import type { Mutation } from './mutation.ts';

const DELIVERIES = 'test/doubles/memory-deliveries.ts';
const UPDATES = 'functions/store/due-index.ts';

/** Mutations of claims, settlements and ends of deliveries. */
export const CLAIMS: readonly Mutation[] = [
  {
    name: 'a claim ignores the lease',
    file: 'functions/domain/delivery.ts',
    find: 'if (found.lease !== undefined && found.lease.until > now.getTime())',
    replace: 'if (false)',
    breaks: ['one holder', 'lease', 'eight attempts', 'comes to rest'],
  },
  {
    name: 'a delivery that has ended can be claimed',
    file: 'functions/domain/delivery.ts',
    find: "  if (!OPEN_STATUSES.some((open) => open === found.status)) return { kind: 'terminal' };\n",
    replace: '',
    breaks: ['one end', 'comes to rest'],
  },
  {
    name: 'a claim ignores when the next attempt is due',
    file: 'functions/domain/delivery.ts',
    find: 'if (found.nextRetryAt !== undefined && new Date(found.nextRetryAt) > now)',
    replace: 'if (false)',
    breaks: ['not before its time'],
  },
  {
    name: 'a claim does not count the attempt',
    file: DELIVERIES,
    find: 'attempts: row.delivery.attempts + 1,',
    replace: 'attempts: Math.max(1, row.delivery.attempts),',
    breaks: ['eight attempts'],
    standsFor: UPDATES,
  },
  {
    name: 'a ninth attempt is made',
    file: 'functions/domain/timing.ts',
    find: 'export const MAX_ATTEMPTS = 8;',
    replace: 'export const MAX_ATTEMPTS = 9;',
    breaks: ['eight attempts', 'record'],
  },
  {
    name: 'the eighth failure is followed by a further wait',
    file: 'functions/domain/delivery.ts',
    find: 'number < policy.maxAttempts',
    replace: 'number <= policy.maxAttempts',
    breaks: ['record', 'comes to rest'],
  },
  {
    name: "an attempt is recorded without the claim's token",
    file: DELIVERIES,
    find: "    if (found?.lease?.token !== claimed.lease.token) return 'refused';\n",
    replace: "    if (found?.lease === undefined) return 'refused';\n",
    breaks: ['lease'],
    firstSeed: 201,
    standsFor: UPDATES,
  },
  {
    name: 'an attempt is recorded after its lease',
    file: DELIVERIES,
    find: "    if (found.lease.until <= settlement.at.getTime()) return 'refused';\n",
    replace: '',
    breaks: ['lease'],
    firstSeed: 193,
    standsFor: UPDATES,
  },
  {
    name: 'a delivery is skipped while a worker attempts it',
    file: DELIVERIES,
    find: 'return found && isOpen(found) && !leased ? found : undefined;',
    replace: 'return found && isOpen(found) ? found : undefined;',
    breaks: ['lease'],
    firstSeed: 110,
    standsFor: UPDATES,
  },
  {
    name: 'a delivery all of whose attempts were started is left alone',
    file: 'functions/engine/attempt-delivery.ts',
    find: "if (claim.kind !== 'spent') return endWaitForTurn(deliveryMessage, decideDisposition(claim), lane);",
    replace:
      "if (claim.kind !== 'spent') return endWaitForTurn(deliveryMessage, decideDisposition(claim), lane);\n    if (now()) return { kind: 'delete' };",
    breaks: ['nothing lost', 'comes to rest'],
  },
  {
    name: 'an event that is gone makes the function fail',
    file: 'functions/engine/attempt-delivery.ts',
    find: "return skip(deliveryMessage, 'event_missing');",
    replace: "throw new Error('the event is missing');",
    breaks: ['comes to rest'],
  },
  {
    name: 'an attempt is made for a disabled endpoint',
    file: 'functions/engine/attempt-delivery.ts',
    find: "    if (endpoint.status === 'auto_disabled') return skip(deliveryMessage, 'endpoint_disabled');\n",
    replace: '',
    breaks: ['nothing after the end of an endpoint'],
  },
];
