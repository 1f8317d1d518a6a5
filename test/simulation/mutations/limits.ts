import { REMEMBERING } from './claims.ts';
import { inFile, type Mutation } from './mutation.ts';

/** Mutations of the turns at endpoints with a limit. */
export const LIMITS: readonly Mutation[] = [
  ...inFile('functions/delivery/turns.ts', [
    {
      name: 'a time is taken and left for the next attempt',
      find: 'expression`#next + ${spanMs}`',
      replace: 'expression`#next + ${0}`',
      breaks: ['within its limit'],
    },
    {
      name: 'an attempt starts however late it is for its time',
      find: '(SPREAD_MS - computeHeldMs(rate)) * 4 ** missed',
      replace: '(SPREAD_MS - computeHeldMs(rate)) * 1e9 ** (missed + 1)',
      breaks: ['within its limit'],
    },
    {
      name: 'times of another limit stay valid',
      find: '&& turn.era === seen?.era && seen.rate === rate;',
      replace: ';',
      breaks: ['within its limit'],
      firstSeed: 13_290,
    },
    {
      name: 'turns are given at half of the limit',
      find: 'const intervalMs = 1000 / rate;',
      replace: 'const intervalMs = 2000 / rate;',
      breaks: ['comes to rest'],
      firstSeed: 560,
    },
  ]),
  ...inFile('functions/delivery/attempt.ts', [
    {
      name: 'a retry is attempted without a turn',
      find: 'if (maxPerSecond !== undefined) {',
      replace: "if (maxPerSecond !== undefined && lane !== 'retry') {",
      breaks: ['within its limit'],
    },
    {
      name: 'a worker keeps the limit that it first read',
      find: '    const { maxPerSecond } = endpoint;',
      replace:
        '    const maxPerSecond =\n      endpoint.maxPerSecond === undefined\n        ? undefined\n        : ((memory.get(endpoint.id) ?? endpoint).maxPerSecond ?? endpoint.maxPerSecond);\n    if (maxPerSecond !== undefined) memory.set(endpoint.id, { maxPerSecond });',
      also: [REMEMBERING],
      breaks: ['within its limit'],
      firstSeed: 1130,
    },
  ]),
  ...inFile('functions/delivery/rows.ts', [
    {
      name: 'a delivery is parked for its turn outside of the due index',
      find: "const place = isParked ? { parked: true, ...buildPlace('parked', ref, until) } : {};",
      replace: 'const place = isParked ? { parked: true, dueIn: undefined } : {};',
      also: [
        {
          file: 'functions/delivery/rows.ts',
          find: 'expression`SET ${assign({ turn, nextRetryAt, ...place })} REMOVE nextRetryReason`,',
          replace:
            "isParked ? expression`SET ${assign({ turn, nextRetryAt, parked: true })} REMOVE ${attributes(['dueIn', 'dueKey'])}` : expression`SET ${assign({ turn, nextRetryAt })}`,",
        },
      ],
      breaks: ['nothing lost', 'comes to rest'],
    },
  ]),
  ...inFile('functions/delivery/dispatch.ts', [
    {
      name: 'deliveries that wait for their turns take no share of the batch',
      find: 'const disposition = await attempt(message.message, context, lane);\n          // Does not hold up the next message.\n          disposing.push(dispose(message, disposition, context));',
      replace:
        'const turned = context.endpoint?.maxPerSecond === undefined ? undefined : attempt(message.message, context, lane).then((given) => dispose(message, given, context), (error: unknown) => logAndKeep(message, error, context));\n          disposing.push(turned ?? dispose(message, await attempt(message.message, context, lane), context));',
      breaks: ['fair shares'],
    },
  ]),
];
