import type { Mutation } from './mutation.ts';

const ENDPOINTS = 'test/doubles/memory-endpoints.ts';
const STREAK = 'functions/domain/failure-streak.ts';

/** Mutations of counts: failures of endpoints, and the ledger. */
export const COUNTS: readonly Mutation[] = [
  {
    name: 'nine failures disable an endpoint',
    file: 'functions/domain/endpoint.ts',
    find: 'export const FAILURES_TO_DISABLE = 10;',
    replace: 'export const FAILURES_TO_DISABLE = 9;',
    breaks: ['exact count'],
  },
  {
    name: 'a success does not reset the failure count',
    file: 'functions/domain/endpoint.ts',
    find: "return endpoint.consecutiveFailures === 0 && endpoint.streak === undefined ? 'none' : 'reset';",
    replace: "return 'none';",
    breaks: ['exact count'],
  },
  {
    name: 'a success at an endpoint at risk does not read the endpoint',
    file: STREAK,
    find: 'getSecondsLeft(endpoint, endedAt) <= 0 &&',
    replace: '',
    breaks: ['exact count'],
  },
  {
    name: 'a success that took long does not read the endpoint',
    file: STREAK,
    find: 'elapsedSeconds <= QUICK_SHARE * computeUnseenSeconds(attemptSeconds)',
    replace: 'elapsedSeconds >= 0',
    breaks: ['exact count'],
  },
  {
    name: 'a failure reads the time of its end before it marks the endpoint',
    file: 'functions/engine/failure-count.ts',
    find: '      const decide = async (): Promise<StreakVerdict> => {\n        let seen = await streaks.find(known.orgId, known.id);',
    replace:
      "      const early = now();\n      const decide = async (): Promise<StreakVerdict> => {\n        const seen = await streaks.find(known.orgId, known.id);\n        return { effect: computeEndpointEffect(seen, 'exhausted'), at: early, seen };\n      };\n      const unused = async (): Promise<StreakVerdict> => {\n        let seen = await streaks.find(known.orgId, known.id);",
    breaks: ['exact count'],
  },
  {
    name: 'a failure does not wait at an endpoint with a new mark',
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
    name: 'a success resets a failure that was counted after its read',
    file: ENDPOINTS,
    find: 'return isSeen && (failures > 0 || streak !== undefined)',
    replace: 'return failures > 0 || streak !== undefined',
    breaks: ['exact count'],
    standsFor: 'functions/store/endpoints.ts',
  },
  {
    name: 'a failure is counted although a success came after its read',
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
    name: 'admins are notified although the transaction was refused',
    file: 'test/doubles/memory-deliveries.ts',
    find: "    if (!this.#endpoints.apply(outcome)) return 'endpoint-changed';\n",
    replace:
      "    const isApplied = this.#endpoints.apply(outcome);\n    if (!isApplied && outcome.effect !== 'disable') return 'endpoint-changed';\n",
    breaks: ['exact count'],
    standsFor: 'functions/store/deliveries.ts',
  },
  {
    name: 'a settlement with a changed endpoint is not retried',
    file: 'functions/engine/failure-count.ts',
    find: "if (result !== 'endpoint-changed') return { result, effect };",
    replace: 'return { result, effect };',
    breaks: ['record'],
  },
  {
    name: 'the ledger counts a record twice',
    file: 'test/doubles/memory-ledger.ts',
    find: 'if (countedTo !== undefined && BigInt(countedTo) >= BigInt(first)) return { countedTo };',
    replace: 'if (countedTo === last) return { countedTo };',
    breaks: ['true ledger'],
    standsFor: 'functions/store/ledger.ts',
  },
  {
    name: 'the ledger counts a whole batch again of which it has counted a part',
    file: 'functions/engine/delivery-stream.ts',
    find: 'uncounted = uncounted.filter(({ sequence }) => BigInt(sequence) > BigInt(result.countedTo));',
    replace: 'uncounted = uncounted.slice(0, BigInt(result.countedTo) > 0n ? 0 : 1);',
    breaks: ['true ledger', 'nothing lost'],
  },
  {
    name: 'the ledger counts before the due index has the entries',
    file: 'functions/engine/delivery-stream.ts',
    find: 'const watched = await mapSettled(',
    replace:
      'const early = Map.groupBy(current, ({ delivery }) => buildEntryKey(delivery));\n    await mapSettled([...early.values()], CONCURRENCY, (each) => count(shardId, each));\n    const watched = await mapSettled(',
    breaks: ['nothing lost'],
  },
  {
    name: 'the ledger counts deliveries that could not be added to the due index',
    file: 'functions/engine/delivery-stream.ts',
    find: 'uncounted.has(key) ? [] : [changes]',
    replace: '[changes]',
    breaks: ['nothing lost'],
  },
  {
    name: 'delivery-stream reports failures as done',
    file: 'functions/engine/delivery-stream.ts',
    find: 'if (errors.length > 0) throw errors[0];',
    replace: '',
    breaks: ['nothing lost', 'true ledger'],
  },
];
