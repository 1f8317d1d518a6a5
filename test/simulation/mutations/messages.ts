import { inFile, type Mutation } from './mutation.ts';

/** Mutations of message processing, and of the recovery of deliveries without a message. */
export const MESSAGES: readonly Mutation[] = [
  ...inFile('functions/delivery/dispatch.ts', [
    {
      name: 'one organization has a batch to itself',
      find: 'export const ATTEMPTS_PER_ORGANIZATION = 4;',
      replace: 'export const ATTEMPTS_PER_ORGANIZATION = 40;',
      breaks: ['fair shares'],
    },
    {
      name: 'a message is deleted instead of waiting for the next attempt',
      find: 'staying.add(received);',
      replace: '',
      breaks: ['nothing lost'],
    },
  ]),
  ...inFile('functions/delivery/attempt.ts', [
    {
      name: 'the message is deleted before the attempt is recorded',
      find: 'const settled = await deliveries.settle(claimed, settlement, traceId);',
      replace:
        "const writing = deliveries.settle(claimed, settlement, traceId);\n    if (settlement.kind === 'retrying') writing.catch(() => undefined);\n    const settled = settlement.kind === 'retrying' ? 'done' : await writing;",
      breaks: ['nothing lost', 'record'],
    },
    {
      name: 'a message of a slow endpoint is moved within the slow queue',
      find: "if (other !== undefined) return { kind: 'move', lane: other,",
      replace: "if (other !== undefined || pace === 'slow') return { kind: 'move', lane: other ?? lane,",
      breaks: ['comes to rest'],
    },
  ]),
  ...inFile('functions/delivery/settle.ts', [
    {
      name: 'the message of a delivery that a worker holds is deleted',
      find: "return { kind: 'keep', until: outcome.until };",
      replace: "return { kind: 'delete' };",
      breaks: ['nothing lost'],
    },
    {
      name: 'a message that is received early is deleted',
      find: "return outcome.parked ? { kind: 'delete' } : { kind: 'keep', until: outcome.at };",
      replace: "return { kind: 'delete' };",
      breaks: ['nothing lost', 'comes to rest'],
    },
    {
      name: 'a wait for the next attempt is not watched',
      find: "    Object.assign(set, buildPlace(isParked ? 'parked' : 'watched', claimed, dueAt));",
      replace:
        "    if (isParked) Object.assign(set, buildPlace('parked', claimed, dueAt));\n    else removes.push('dueIn', 'dueKey');",
      breaks: ['nothing lost'],
    },
  ]),
  ...inFile('functions/delivery/lanes.ts', [
    {
      name: 'a message of a stalled endpoint is moved to the slow queue and back',
      find: "  if (lane === 'stalled') return undefined;\n  if (pace === 'stalled')",
      replace: "  if (lane === 'stalled') return 'slow';\n  if (pace === 'stalled')",
      breaks: ['comes to rest'],
    },
  ]),
  ...inFile('functions/delivery/reconcile.ts', [
    {
      name: 'a delivery expires although its message was deferred',
      find: 'isExpired(message, now()) && isDeferred !== true',
      replace: "isExpired(message, now()) && isDeferred !== ('never' as never)",
      also: [
        {
          file: 'functions/delivery/rows.ts',
          find: "reason === 'expired' ? IS_NOT_DEFERRED : undefined",
          replace: 'undefined',
        },
      ],
      breaks: ['nothing lost'],
      firstSeed: 900,
    },
    {
      name: 'a deferred delivery is recorded as sent',
      find: "        'deferred',\n",
      replace: "        'sent',\n",
      breaks: ['nothing lost'],
    },
    {
      name: 'a delivery whose message moved to the dead-letter queue is not watched',
      find: 'await due.watch(deliveryMessage, new Date(now().getTime() + graceSeconds * 1000));',
      replace: 'if (graceSeconds < 0) await due.watch(deliveryMessage, now());',
      breaks: ['nothing lost', 'comes to rest'],
      firstSeed: 370,
    },
    {
      name: 'the reconciler ignores watched deliveries',
      find: "takeDue('watched', now(), ",
      replace: "takeDue('watched', new Date(0), ",
      breaks: ['comes to rest', 'turns'],
    },
    {
      name: 'the reconciler resends the same message again and again',
      find: "await postpone(sent, ({ message }) => computeNextCheck(message, now(), graceSeconds), 'sent');",
      replace: '',
      breaks: ['comes to rest', 'turns'],
    },
  ]),
  ...inFile('functions/delivery/fan-out.ts', [
    {
      name: 'the fan-out sends no message of a delivery that exists',
      find: "if (delivery.status !== 'pending' && result === 'added') return [];",
      replace: "if (delivery.status !== 'pending' || result === 'exists') return [];",
      breaks: ['nothing lost'],
    },
    {
      name: 'the fan-out reports an event as done although a delivery is missing',
      find: 'for (const { error } of collectFailures(recipients, added)) fail(work, error);',
      replace: 'collectFailures(recipients, added);',
      breaks: ['nothing lost', 'right deliveries'],
    },
  ]),
  ...inFile('functions/delivery/outbox-readers.ts', [
    {
      name: 'an abandoned entry stays in the queue',
      find: 'return { abandoned: expired.length };',
      replace: 'return expired.length > 0 ? { abandoned: 0, retryInSeconds: most } : { abandoned: 0 };',
      breaks: ['whole job'],
      firstSeed: 240,
    },
    {
      name: 'dead letters of the fan-out are processed once',
      find: 'const refused = open.length === 0 ? [] : await handOver(open);',
      replace: 'const refused = open.length >= 0 ? [] : await handOver(open);',
      breaks: ['nothing lost'],
    },
  ]),
  ...inFile('functions/delivery/delivery.ts', [
    {
      name: 'a repeated fan-out derives another identifier',
      find: 'id: deriveDeliveryId(event.id, endpoint.id),',
      replace: "id: `dlv_${event.id.slice(4, 16)}${crypto.randomUUID().replaceAll('-', '').slice(12)}`,",
      breaks: ['right deliveries', 'nothing lost'],
    },
  ]),
  ...inFile('functions/events/events.ts', [
    {
      name: 'a test is for endpoints that subscribe to its type',
      find: '(onlyTo !== undefined && !isSubscribable(type))',
      replace: '(onlyTo !== undefined && isSubscribable(type))',
      breaks: ['nothing lost', 'done once'],
    },
  ]),
  ...inFile('functions/tenancy/sweep.ts', [
    {
      name: 'the reconciler continues after messages that the queue refused',
      find: 'for (const { item } of refused) entryOf.delete(item);',
      replace: '',
      breaks: ['nothing lost', 'comes to rest'],
    },
  ]),
  ...inFile('functions/delivery/ledger-updates.ts', [
    {
      name: 'delivery-stream adds no delivery to the due index',
      find: '({ delivery }) => due.watch(delivery, dueAt)',
      replace: '({ delivery }) => (graceSeconds < 0 ? due.watch(delivery, dueAt) : Promise.resolve())',
      breaks: ['nothing lost'],
    },
  ]),
];
