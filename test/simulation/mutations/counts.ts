import type { Mutation } from './mutation.ts';

const ENDPOINTS = 'test/doubles/memory-endpoints.ts';

/** Changes of what is counted: failures of endpoints, and what the ledger holds. */
export const COUNTS: readonly Mutation[] = [
  {
    name: 'nine failures disable',
    file: 'functions/domain/endpoint.ts',
    find: 'export const FAILURES_TO_DISABLE = 10;',
    replace: 'export const FAILURES_TO_DISABLE = 9;',
    breaks: ['exact count'],
  },
  {
    name: 'a success leaves the failures that were counted',
    file: 'functions/domain/endpoint.ts',
    find: "return endpoint.consecutiveFailures === 0 ? 'none' : 'reset';",
    replace: "return 'none';",
    breaks: ['exact count'],
  },
  {
    name: 'an endpoint that is disabled is disabled again',
    file: ENDPOINTS,
    find: "if (endpoint?.status !== 'active') return undefined;",
    replace: 'if (endpoint === undefined) return undefined;',
    breaks: ['exact count'],
    standsFor: 'functions/store/endpoints.ts',
  },
  {
    name: 'a failure is counted beyond the tenth without disabling',
    file: ENDPOINTS,
    find: 'return isLast ? undefined : counted;',
    replace: 'return counted;',
    breaks: ['exact count'],
    standsFor: 'functions/store/endpoints.ts',
  },
  {
    name: 'admins are told although the transaction was refused',
    file: 'test/doubles/memory-deliveries.ts',
    find: "    if (!this.#endpoints.apply(outcome)) return 'endpoint-changed';\n",
    replace:
      "    const isApplied = this.#endpoints.apply(outcome);\n    if (!isApplied && outcome.effect !== 'disable') return 'endpoint-changed';\n",
    breaks: ['exact count'],
    standsFor: 'functions/store/delivery-moves.ts',
  },
  {
    name: 'a settlement that meets a changed endpoint is not tried again',
    file: 'functions/engine/dispatch.ts',
    find: "if (result !== 'endpoint-changed') return result;",
    replace: 'return result;',
    breaks: ['record'],
  },
  {
    name: 'the ledger counts a record that it has counted',
    file: 'test/doubles/memory-ledger.ts',
    find: 'if (countedTo !== undefined && BigInt(countedTo) >= BigInt(first)) return { countedTo };',
    replace: 'if (countedTo === last) return { countedTo };',
    breaks: ['true ledger'],
    standsFor: 'functions/store/ledger.ts',
  },
  {
    name: 'the ledger counts a whole batch again that is ahead of it in part',
    file: 'functions/engine/watch.ts',
    find: 'uncounted = uncounted.filter(({ sequence }) => BigInt(sequence) > BigInt(result.countedTo));',
    replace: 'uncounted = uncounted.slice(0, BigInt(result.countedTo) > 0n ? 0 : 1);',
    breaks: ['true ledger', 'nothing lost'],
  },
  {
    name: 'the ledger counts before the due index is armed',
    file: 'functions/engine/watch.ts',
    find: 'const watched = await mapSettled(',
    replace:
      'const early = Map.groupBy(current, ({ delivery }) => entryKeyOf(delivery));\n    await mapSettled([...early.values()], CONCURRENCY, (each) => count(shardId, each));\n    const watched = await mapSettled(',
    breaks: ['nothing lost'],
  },
  {
    name: 'the ledger counts what could not be put into the due index',
    file: 'functions/engine/watch.ts',
    find: 'uncounted.has(key) ? [] : [changes]',
    replace: '[changes]',
    breaks: ['nothing lost'],
  },
  {
    name: 'the watch reports failures as done',
    file: 'functions/engine/watch.ts',
    find: 'if (errors.length > 0) throw errors[0];',
    replace: '',
    breaks: ['nothing lost', 'true ledger'],
  },
];
