import type { Mutation } from './mutation.ts';

const ENDPOINTS = 'functions/store/endpoint-state.ts';
const DELIVERIES = 'functions/store/deliveries.ts';
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
    firstSeed: 1640,
  },
  {
    name: 'a failure reads the time of its end before it marks the endpoint',
    file: 'functions/engine/failure-count.ts',
    find: '      const decide = async (): Promise<StreakVerdict> => {\n        const before = now();\n        let seen = await streaks.find(known.orgId, known.id);',
    replace:
      "      const early = now();\n      const decide = async (): Promise<StreakVerdict> => {\n        const seen = await streaks.find(known.orgId, known.id);\n        return { effect: computeEndpointEffect(seen, 'exhausted'), at: early, seen };\n      };\n      const unused = async (): Promise<StreakVerdict> => {\n        const before = now();\n        let seen = await streaks.find(known.orgId, known.id);",
    breaks: ['exact count'],
  },
  {
    name: 'a failure does not wait at an endpoint with a new mark',
    file: 'functions/engine/failure-count.ts',
    find: '        await wait(computeUnseenSeconds(attemptSeconds));\n',
    replace: '',
    breaks: ['exact count'],
    firstSeed: 1860,
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
    find: 'consecutiveFailures = ${failures} AND (',
    replace: '(',
    breaks: ['exact count'],
    firstSeed: 215,
  },
  {
    name: 'a failure is counted although a success came after its read',
    file: ENDPOINTS,
    find: "unchanged({ streak: endpoint.streak }, ['streak']),",
    replace: "effect === 'reset' ? unchanged({ streak: endpoint.streak }, ['streak']) : undefined,",
    breaks: ['exact count'],
    firstSeed: 1610,
  },
  {
    name: 'an endpoint that is disabled is disabled again',
    file: ENDPOINTS,
    find: "expression`#status = ${'active'}`,",
    replace: 'EXISTS,',
    breaks: ['exact count'],
  },
  {
    name: 'a failure is counted beyond the tenth without disabling',
    file: ENDPOINTS,
    find: 'consecutiveFailures < ${FAILURES_TO_DISABLE - 1} AND ',
    replace: '',
    breaks: ['exact count'],
  },
  {
    name: 'a worker that has seen fewer failures counts the fifth without a warning',
    file: ENDPOINTS,
    find: ' AND consecutiveFailures <> ${FAILURES_TO_WARN - 1}`',
    replace: '`',
    breaks: ['one warning'],
  },
  {
    name: 'a failure warns again that is counted after the fifth',
    file: ENDPOINTS,
    find: 'condition: expression`consecutiveFailures = ${FAILURES_TO_WARN - 1}`,',
    replace: 'condition: EXISTS,',
    breaks: ['one warning'],
  },
  {
    name: 'admins are warned at the fourth failure',
    file: 'functions/domain/endpoint.ts',
    find: 'export const FAILURES_TO_WARN = 5;',
    replace: 'export const FAILURES_TO_WARN = 4;',
    breaks: ['one warning'],
  },
  {
    name: 'admins are notified although the transaction was refused',
    file: DELIVERIES,
    find: '      const result = await commit([\n        buildUpdate(deliveries, key',
    replace:
      "      if (effect === 'disable') await commit(buildEffectNotice(outcome, generation, lastError));\n      const result = await commit([\n        buildUpdate(deliveries, key",
    also: [
      {
        file: DELIVERIES,
        find: '        ...buildEffectNotice(outcome, generation, lastError),\n',
        replace:
          "        ...(effect === 'disable' ? [] : buildEffectNotice(outcome, generation, lastError)),\n",
      },
    ],
    breaks: ['exact count'],
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
    file: 'functions/store/ledger.ts',
    find: '< ${packSequence(first)}`',
    replace: '< ${packSequence(last)}`',
    breaks: ['true ledger'],
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
