import { inFile, type Mutation } from './mutation.ts';

const ENDPOINTS = 'functions/receivers/endpoint.ts';
const SETTLEMENTS = 'functions/delivery/settle.ts';

/** Mutations of counts: failures of endpoints, and the ledger. */
export const COUNTS: readonly Mutation[] = [
  ...inFile(ENDPOINTS, [
    {
      name: 'a success does not reset the failure count',
      find: "return endpoint.consecutiveFailures < FAILURES_TO_WARN ? 'reset' : 'recover';",
      replace: "return 'none';",
      breaks: ['exact count'],
    },
    {
      name: 'an endpoint that is disabled is disabled again',
      find: "if: all(isOneOf('status', RESETS.includes(effect) ? ['active', 'paused'] : ['active']), condition),",
      replace: 'if: all(EXISTS, condition),',
      breaks: ['exact count'],
    },
    {
      name: 'an endpoint that has failed less than five times recovers too',
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
      name: 'a failure is counted beyond the tenth without disabling',
      find: 'consecutiveFailures < ${FAILURES_TO_DISABLE - 1} AND ',
      replace: '',
      breaks: ['exact count'],
    },
    {
      name: 'a worker that has seen fewer failures counts the fifth without a warning',
      find: ' AND consecutiveFailures <> ${FAILURES_TO_WARN - 1}`',
      replace: '`',
      breaks: ['one warning'],
    },
    {
      name: 'a failure warns again that is counted after the fifth',
      find: 'condition: expression`consecutiveFailures = ${FAILURES_TO_WARN - 1}`,',
      replace: 'condition: EXISTS,',
      breaks: ['one warning'],
    },
  ]),
  ...inFile('functions/receivers/endpoints.ts', [
    {
      name: 'a success reads the endpoint as it was',
      find: 'await get(service, keys.endpoint(orgId, id));\n    return row && parse(row);',
      replace:
        'await get(service, keys.endpoint(orgId, id), { consistent: false });\n    return row && parse(row);',
      breaks: ['exact count', 'right deliveries', 'nothing lost'],
    },
  ]),
  ...inFile(SETTLEMENTS, [
    {
      name: 'the effect of an end is not in its transaction',
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
      name: 'no other endpoint hears that one recovers',
      find: "    if (type === 'webhook.recovered') return changes;",
      replace: "    if (type === 'webhook.recovered') return [change];",
      breaks: ['state events'],
    },
    {
      name: 'the id of an event of an endpoint has a time that followers have passed',
      find: '(commitSeconds - API_TIMEOUT_SECONDS) * 1000',
      replace: '-commitSeconds * 1000 - API_TIMEOUT_SECONDS',
      breaks: ['followed once'],
    },
    {
      name: 'a settlement with a changed endpoint is not retried',
      find: "if (result.refusal !== 'endpoint-changed') return 'refused';",
      replace: "return 'refused';",
      breaks: ['record'],
    },
  ]),
  ...inFile('functions/events/events.ts', [
    {
      name: 'an endpoint gets the events about itself',
      find: "  if (filterValues.webhookId === id) return 'about_itself';\n",
      replace: '',
      breaks: ['right deliveries', 'as its endpoint says'],
    },
  ]),
  ...inFile('functions/delivery/ledger.ts', [
    {
      name: 'the ledger counts a record twice',
      find: '< ${packSequence(first)}`',
      replace: '< ${packSequence(last)}`',
      breaks: ['true ledger'],
    },
  ]),
  ...inFile('functions/delivery/ledger-updates.ts', [
    {
      name: 'the ledger counts a whole batch again of which it has counted a part',
      find: 'uncounted = uncounted.filter(({ sequence }) => BigInt(sequence) > BigInt(result.countedTo));',
      replace: 'uncounted = uncounted.slice(0, BigInt(result.countedTo) > 0n ? 0 : 1);',
      breaks: ['true ledger', 'nothing lost'],
    },
    {
      name: 'the ledger counts before the due index has the entries',
      find: 'const watched = await mapSettled(',
      replace:
        'const early = Map.groupBy(current, ({ delivery }) => buildEntryKey(delivery));\n    await mapSettled([...early.values()], WRITES, (changes) => countChanges(shardId, changes));\n    const watched = await mapSettled(',
      breaks: ['nothing lost'],
    },
  ]),
];
