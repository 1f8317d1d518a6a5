import { REMEMBERING } from './claims.ts';
import type { Mutation } from './mutation.ts';

/** Mutations of the turns at endpoints with a limit. */
export const LIMITS: readonly Mutation[] = [
  {
    name: 'a start is taken and left for the next one',
    file: 'functions/receivers/endpoint-rate.ts',
    find: 'if (isOver) update.add[name] = span(count);',
    replace: "if (isOver) update.add[name] = name === 'next' ? 0 : span(count);",
    breaks: ['within its limit'],
  },
  {
    name: 'a message that has waited in line is attempted without a turn',
    file: 'functions/delivery/attempt.ts',
    find: 'if (endpoint.maxPerSecond !== undefined) {',
    replace: 'if (endpoint.maxPerSecond !== undefined && deliveryMessage.waited === undefined) {',
    breaks: ['within its limit'],
  },
  {
    name: 'a delivery is parked for its turn outside of the due index',
    file: 'functions/delivery/due-index.ts',
    find: 'const set = assign({ parked: true, nextRetryAt: resumedAt.toISOString(), turn, ...place });\n  return buildOpenUpdate(ref, expression`SET ${set}`,',
    replace:
      'const set = assign({ parked: true, nextRetryAt: resumedAt.toISOString(), turn });\n  return buildOpenUpdate(ref, expression`SET ${set} REMOVE ${attributes(Object.keys(place))}`,',
    breaks: ['nothing lost', 'comes to rest'],
  },
  {
    name: 'a worker keeps the limit that it first read',
    file: 'functions/delivery/attempt.ts',
    find: 'maxPerSecond: endpoint.maxPerSecond, lane });',
    replace: 'maxPerSecond, lane });',
    also: [
      REMEMBERING,
      {
        file: 'functions/delivery/attempt.ts',
        find: '    const send = await prepare(deliveryMessage, endpoint);',
        replace:
          '    const { maxPerSecond = endpoint.maxPerSecond ?? 1 } = memory.get(endpoint.id) ?? endpoint;\n    memory.set(endpoint.id, { maxPerSecond });\n    const send = await prepare(deliveryMessage, endpoint);',
      },
    ],
    breaks: ['within its limit'],
    firstSeed: 1130,
  },
  {
    name: 'turns are given at half of the limit',
    file: 'functions/receivers/endpoint-rate.ts',
    find: 'Math.round(1e6 / rate) / 1000',
    replace: 'Math.round(2e6 / rate) / 1000',
    breaks: ['comes to rest'],
    firstSeed: 560,
  },
  {
    name: 'deliveries that wait for their turns take no share of the batch',
    file: 'functions/delivery/dispatch.ts',
    find: 'startDisposing(message, await attempt(message.message, context, lane), context);',
    replace:
      "const turned = context.endpoint?.maxPerSecond === undefined ? undefined : attempt(message.message, context, lane).then((disposition) => dispose(message, disposition, lane)).then((result) => void (result === 'stays' && staying.add(message)), (error: unknown) => logAndKeep(message, error, context));\n          if (turned !== undefined) disposing.push(turned);\n          if (turned === undefined) startDisposing(message, await attempt(message.message, context, lane), context);",
    breaks: ['fair shares'],
  },
];
