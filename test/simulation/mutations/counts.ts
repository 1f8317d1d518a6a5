import type { Mutation } from './mutation.ts';

const ENDPOINTS = 'functions/receivers/endpoint.ts';
const SETTLEMENTS = 'functions/delivery/settle.ts';

/** Mutations of counts: failures of endpoints, and the ledger. */
export const COUNTS: readonly Mutation[] = [
  {
    name: 'nine failures disable an endpoint',
    file: 'functions/receivers/endpoint.ts',
    find: 'export const FAILURES_TO_DISABLE = 10;',
    replace: 'export const FAILURES_TO_DISABLE = 9;',
    breaks: ['exact count'],
  },
  {
    name: 'a success does not reset the failure count',
    file: ENDPOINTS,
    find: "return endpoint.consecutiveFailures < FAILURES_TO_WARN ? 'reset' : 'recover';",
    replace: "return 'none';",
    breaks: ['exact count'],
  },
  {
    name: 'a success reads the endpoint as it was',
    file: 'functions/receivers/endpoints.ts',
    find: 'await get(service, keys.endpoint(orgId, id));\n    return row && parse(row);',
    replace:
      'await get(service, keys.endpoint(orgId, id), { consistent: false });\n    return row && parse(row);',
    breaks: ['exact count', 'right deliveries'],
  },
  {
    name: 'the effect of an end is not in its transaction',
    file: SETTLEMENTS,
    find: '        ...buildEffect(effect, message, ending),\n',
    replace: '',
    also: [
      {
        file: SETTLEMENTS,
        find: "      if (result.kind === 'committed') {\n",
        replace:
          "      if (result.kind === 'committed') {\n        if (effect !== 'none') await commit(buildEffect(effect, message, ending));\n",
      },
    ],
    breaks: ['exact count'],
  },
  {
    name: 'an endpoint that is disabled is disabled again',
    file: ENDPOINTS,
    find: "if: all(isOneOf('status', RESETS.includes(effect) ? ['active', 'paused'] : ['active']), condition),",
    replace: 'if: all(EXISTS, condition),',
    breaks: ['exact count'],
  },
  {
    name: 'an endpoint gets the events about itself',
    file: 'functions/events/events.ts',
    find: "  if (filterValues.webhookId === id) return 'about_itself';\n",
    replace: '',
    breaks: ['right deliveries', 'as its endpoint says'],
  },
  {
    name: 'no other endpoint hears that one recovers',
    file: SETTLEMENTS,
    find: "    if (type === 'webhook.recovered') return changes;",
    replace: "    if (type === 'webhook.recovered') return [change];",
    breaks: ['state events'],
  },
  {
    name: 'an endpoint that has failed less than five times recovers too',
    file: ENDPOINTS,
    find: "endpoint.consecutiveFailures < FAILURES_TO_WARN ? 'reset'",
    replace: "endpoint.consecutiveFailures < 0 ? 'reset'",
    also: [
      {
        file: ENDPOINTS,
        find: 'consecutiveFailures >= ${FAILURES_TO_WARN}`',
        replace: 'consecutiveFailures >= ${0}`',
      },
    ],
    breaks: ['state events'],
  },
  {
    name: 'the id of an event of an endpoint has a time that followers have passed',
    file: SETTLEMENTS,
    find: '(commitSeconds - API_TIMEOUT_SECONDS) * 1000',
    replace: '-commitSeconds * 1000 - API_TIMEOUT_SECONDS',
    breaks: ['followed once'],
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
    file: 'functions/receivers/endpoint.ts',
    find: 'export const FAILURES_TO_WARN = 5;',
    replace: 'export const FAILURES_TO_WARN = 4;',
    breaks: ['one warning'],
  },
  {
    name: 'admins are notified although the transaction was refused',
    file: SETTLEMENTS,
    find: '      const result = await commit([\n        buildUpdate(deliveries, key',
    replace:
      "      if (effect === 'disable') await commit(buildEffect(effect, message, ending).slice(1));\n      const result = await commit([\n        buildUpdate(deliveries, key",
    also: [
      {
        file: SETTLEMENTS,
        find: '        ...buildEffect(effect, message, ending),\n',
        replace:
          "        ...buildEffect(effect, message, ending).slice(0, effect === 'disable' ? 1 : undefined),\n",
      },
    ],
    breaks: ['exact count'],
  },
  {
    name: 'a settlement with a changed endpoint is not retried',
    file: SETTLEMENTS,
    find: "if (result.refusal !== 'endpoint-changed') return 'refused';",
    replace: "return 'refused';",
    breaks: ['record'],
  },
  {
    name: 'the ledger counts a record twice',
    file: 'functions/delivery/ledger.ts',
    find: '< ${packSequence(first)}`',
    replace: '< ${packSequence(last)}`',
    breaks: ['true ledger'],
  },
  {
    name: 'the ledger counts a whole batch again of which it has counted a part',
    file: 'functions/delivery/ledger-updates.ts',
    find: 'uncounted = uncounted.filter(({ sequence }) => BigInt(sequence) > BigInt(result.countedTo));',
    replace: 'uncounted = uncounted.slice(0, BigInt(result.countedTo) > 0n ? 0 : 1);',
    breaks: ['true ledger', 'nothing lost'],
  },
  {
    name: 'the ledger counts before the due index has the entries',
    file: 'functions/delivery/ledger-updates.ts',
    find: 'const watched = await mapSettled(',
    replace:
      'const early = Map.groupBy(current, ({ delivery }) => buildEntryKey(delivery));\n    await mapSettled([...early.values()], WRITES, (changes) => countChanges(shardId, changes));\n    const watched = await mapSettled(',
    breaks: ['nothing lost'],
  },
  {
    name: 'the ledger counts deliveries that could not be added to the due index',
    file: 'functions/delivery/ledger-updates.ts',
    find: 'uncounted.has(key) ? [] : [changes]',
    replace: '[changes]',
    breaks: ['nothing lost'],
  },
  {
    name: 'delivery-stream reports failures as done',
    file: 'functions/delivery/ledger-updates.ts',
    find: 'if (errors.length > 0) throw errors[0];',
    replace: '',
    breaks: ['nothing lost', 'true ledger'],
  },
];
