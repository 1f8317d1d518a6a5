import type { Mutation } from './mutation.ts';

const ENDPOINTS = 'test/doubles/memory-endpoints.ts';
const STREAK = 'functions/domain/failure-streak.ts';

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
    find: "return endpoint.consecutiveFailures === 0 && endpoint.streak === undefined ? 'none' : 'reset';",
    replace: "return 'none';",
    breaks: ['exact count'],
  },
  {
    name: 'a success at an endpoint at risk ends without a look at it',
    file: STREAK,
    find: 'getSecondsLeft(endpoint, endedAt) <= 0 &&',
    replace: '',
    breaks: ['exact count'],
  },
  {
    name: 'a success that took long ends without a look at its endpoint',
    file: STREAK,
    find: 'elapsedSeconds <= QUICK_SHARE * computeUnseenSeconds(attemptSeconds)',
    replace: 'elapsedSeconds >= 0',
    breaks: ['exact count'],
  },
  {
    name: 'a failure takes the time of its end before it announces itself',
    file: 'functions/engine/failure-count.ts',
    find: '      const decide = async (): Promise<StreakVerdict> => {\n        let seen = await streaks.find(known.orgId, known.id);',
    replace:
      "      const early = now();\n      const decide = async (): Promise<StreakVerdict> => {\n        const seen = await streaks.find(known.orgId, known.id);\n        return { effect: computeEndpointEffect(seen, 'exhausted'), at: early, seen };\n      };\n      const unused = async (): Promise<StreakVerdict> => {\n        let seen = await streaks.find(known.orgId, known.id);",
    breaks: ['exact count'],
  },
  {
    name: 'a failure does not wait at an endpoint that has only just been marked',
    file: 'functions/engine/failure-count.ts',
    find: '        await wait(computeUnseenSeconds(attemptSeconds));\n',
    replace: '',
    breaks: ['exact count'],
  },
  {
    name: 'no endpoint is marked as at risk',
    file: 'functions/engine/failure-count.ts',
    find: 'if (!needsRiskMark(endpoint, now())) return;',
    replace: 'return;',
    breaks: ['exact count'],
  },
  {
    name: 'a success forgets a failure that was counted after its look',
    file: ENDPOINTS,
    find: 'return isSeen && (failures > 0 || streak !== undefined)',
    replace: 'return failures > 0 || streak !== undefined',
    breaks: ['exact count'],
    standsFor: 'functions/store/endpoints.ts',
  },
  {
    name: 'a failure is counted although a success came after its look',
    file: ENDPOINTS,
    find: '  if (endpoint.streak !== seen.streak) return undefined;\n',
    replace: "  if (effect === 'reset' && endpoint.streak !== seen.streak) return undefined;\n",
    breaks: ['exact count'],
    standsFor: 'functions/store/endpoints.ts',
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
    standsFor: 'functions/store/deliveries.ts',
  },
  {
    name: 'a settlement that meets a changed endpoint is not tried again',
    file: 'functions/engine/failure-count.ts',
    find: "if (result !== 'endpoint-changed') return { result, effect };",
    replace: 'return { result, effect };',
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
    file: 'functions/engine/delivery-stream.ts',
    find: 'uncounted = uncounted.filter(({ sequence }) => BigInt(sequence) > BigInt(result.countedTo));',
    replace: 'uncounted = uncounted.slice(0, BigInt(result.countedTo) > 0n ? 0 : 1);',
    breaks: ['true ledger', 'nothing lost'],
  },
  {
    name: 'the ledger counts before the due index is armed',
    file: 'functions/engine/delivery-stream.ts',
    find: 'const watched = await mapSettled(',
    replace:
      'const early = Map.groupBy(current, ({ delivery }) => buildEntryKey(delivery));\n    await mapSettled([...early.values()], CONCURRENCY, (each) => count(shardId, each));\n    const watched = await mapSettled(',
    breaks: ['nothing lost'],
  },
  {
    name: 'the ledger counts what could not be put into the due index',
    file: 'functions/engine/delivery-stream.ts',
    find: 'uncounted.has(key) ? [] : [changes]',
    replace: '[changes]',
    breaks: ['nothing lost'],
  },
  {
    name: 'the watch reports failures as done',
    file: 'functions/engine/delivery-stream.ts',
    find: 'if (errors.length > 0) throw errors[0];',
    replace: '',
    breaks: ['nothing lost', 'true ledger'],
  },
];
