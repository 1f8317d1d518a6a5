import { inFile, type Mutation } from './mutation.ts';

/** A memory of a worker that lasts over its invocations. */
export const REMEMBERING = {
  file: 'functions/delivery/attempt.ts',
  find: '  const { maxAttempts } = retry;',
  replace:
    '  const { maxAttempts } = retry;\n  const memory = new Map<string, { url?: string; maxPerSecond?: number }>();',
};

/** Mutations of claims, settlements and ends of deliveries. */
const MANY_PAUSES: Mutation['also'] = [
  { file: 'test/simulation/faults.ts', find: 'subscription: 0.6,', replace: 'subscription: 8,' },
  {
    file: 'test/simulation/customers.ts',
    find: "endpoint.status === 'active' && this.#changes % 2 === 0",
    replace: "endpoint.status === 'active'",
  },
];

export const CLAIMS: readonly Mutation[] = [
  ...inFile('functions/aws/table.ts', [
    {
      name: 'a claim ignores the lease',
      find: 'if: all(condition, isFree(now, name)),',
      replace: 'if: condition,',
      breaks: ['one holder', 'lease', 'eight attempts', 'comes to rest'],
    },
  ]),
  ...inFile('functions/delivery/rows.ts', [
    {
      name: 'an update changes a delivery that has ended',
      find: 'if: all(IS_OPEN, ...conditions),',
      replace: 'if: all(...conditions),',
      breaks: ['one end', 'comes to rest'],
    },
    {
      name: 'a claim ignores when the next attempt is due',
      find: 'if: all(IS_OPEN, isDue(now), expression`attempts < ${maxAttempts}`),',
      replace: 'if: all(IS_OPEN, expression`attempts < ${maxAttempts}`),',
      breaks: ['not before its time'],
    },
    {
      name: 'a claim does not count the attempt',
      find: 'add: expression`attempts ${1}`,',
      replace: 'set: { attempts: 1 },',
      breaks: ['eight attempts'],
    },
    {
      name: 'a delivery is skipped while a worker attempts it',
      find: "[isFree(now), reason === 'expired'",
      replace: "[reason === 'expired'",
      breaks: ['lease'],
    },
  ]),
  ...inFile('functions/delivery/settle.ts', [
    {
      name: 'the eighth failure is followed by a further wait',
      find: 'number >= policy.maxAttempts',
      replace: 'number > policy.maxAttempts',
      breaks: ['record', 'comes to rest'],
    },
    {
      name: "an attempt is recorded without the claim's token",
      find: '[isHeld(claimed.lease), ',
      replace: '[expression`attribute_exists(lease)`, ',
      breaks: ['lease'],
      firstSeed: 760,
    },
    {
      name: 'an attempt is recorded after its lease',
      find: ', expression`lease.#until > ${at.getTime()}`]',
      replace: ']',
      breaks: ['lease'],
    },
    {
      name: 'the time for which a receiver asks is ignored',
      find: 'const nextRetryAt = isHeld ? held : backoff;',
      replace: 'const nextRetryAt = isHeld && number > 8 ? held : backoff;',
      breaks: ['not before its time'],
    },
    {
      name: 'an attempt takes less than no time when the clock steps back',
      find: 'durationMs: Math.max(0, endedAt.getTime() - startedAt.getTime()),',
      replace: 'durationMs: endedAt.getTime() - startedAt.getTime(),',
      breaks: ['record'],
    },
  ]),
  ...inFile('functions/delivery/attempt.ts', [
    {
      name: 'a delivery all of whose attempts were started is left alone',
      find: "if (claim.kind !== 'spent') return decideDisposition(claim);",
      replace:
        "if (claim.kind !== 'spent') return decideDisposition(claim);\n    if (now()) return { kind: 'delete' };",
      breaks: ['nothing lost', 'comes to rest'],
    },
    {
      name: 'an attempt is made for a disabled endpoint',
      find: '    if (inactive !== undefined) return skip(deliveryMessage, inactive);\n',
      replace: "    if (inactive === 'endpoint_paused') return skip(deliveryMessage, inactive);\n",
      breaks: ['as its endpoint says'],
    },
    {
      name: 'an attempt is made for a type that its endpoint has removed',
      find: '    const exclusion = findExclusion(event, endpoint);',
      replace: '    const exclusion = event.erased ? findExclusion(event, endpoint) : undefined;',
      breaks: ['as its endpoint says'],
    },
    {
      name: 'a worker keeps the URL that it first read',
      find: 'const send = await prepareSend(deliveryMessage, endpoint);',
      replace:
        'const { url } = memory.get(endpoint.id) ?? endpoint;\n    memory.set(endpoint.id, { url });\n    const send = await prepareSend(deliveryMessage, { ...endpoint, url });',
      also: [REMEMBERING],
      breaks: ['as its endpoint says'],
    },
    {
      name: 'a lease is as long as an attempt',
      find: 'leaseSeconds, maxAttempts: most });',
      replace: 'leaseSeconds: 10, maxAttempts: most });',
      breaks: ['one holder', 'lease', 'record'],
    },
  ]),
  ...inFile('functions/events/events.ts', [
    {
      name: 'a filter excludes nothing',
      find: "return passes ? undefined : 'filtered';",
      replace: 'return passes ? undefined : undefined;',
      breaks: ['right deliveries', 'as its endpoint says'],
    },
  ]),
  ...inFile('functions/redelivery/jobs.ts', [
    {
      name: 'what a pause has skipped is resent while workers still skip',
      find: 'const PAUSE_ECHO_SECONDS = 90;',
      replace: 'const PAUSE_ECHO_SECONDS = 0;',
      also: MANY_PAUSES,
      breaks: ['whole job'],
    },
  ]),
  ...inFile('functions/receivers/endpoint.ts', [
    {
      name: 'a failure is counted during a pause',
      find: "  if (endpoint.status === 'paused') return 'none';\n",
      replace: '',
      also: [
        {
          file: 'functions/receivers/endpoint.ts',
          find: "RESETS.includes(effect) ? ['active', 'paused'] : ['active']",
          replace: "['active', 'paused']",
        },
      ],
      breaks: ['exact count'],
    },
  ]),
];
