import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { deriveJobDeliveryId, type OrgId } from '../../../functions/aws/ids.ts';
import { type DeliveryMessage, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import {
  ATTEMPTS_PER_ORGANIZATION,
  type DeliveryMessagePorts,
  HELD_UP_AFTER_MS,
  processDeliveryMessages,
  type ReceivedDeliveryMessage,
} from '../../../functions/delivery/dispatch.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import type { MessageDisposition } from '../../../functions/delivery/settle.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, anEndpoint, aTenant, later, NOW, seconds } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

/** Messages of deliveries to one endpoint, as they were received. */
const messagesFor = (
  count: number,
  { id: webhookId, orgId }: Pick<Endpoint, 'id' | 'orgId'> = anEndpoint(),
  of: Partial<Tenant> = {},
): ReceivedDeliveryMessage[] =>
  Array.from({ length: count }, () => {
    const deliveryMessage = toDeliveryMessage(aDelivery({ webhookId, orgId, ...of }));
    return { message: deliveryMessage, receiptHandle: `receipt of ${deliveryMessage.id}` };
  });

const DELETED: MessageDisposition = { kind: 'delete' };

/** A dispatcher whose attempts the test answers, and whose queues record the order of their calls. */
function aDispatcher(
  processMessage: (
    deliveryMessage: DeliveryMessage,
    lane: Lane,
  ) => Promise<MessageDisposition> | MessageDisposition,
  replaced: Partial<DeliveryMessagePorts> = {},
) {
  const log = recordedLog();
  /** The calls of the queues. */
  const asked: { what: 'send' | 'hide'; lane: Lane; id: string; until: Date | undefined }[] = [];
  /** The messages that were processed. */
  const processed: DeliveryMessage[] = [];
  const run = processDeliveryMessages({
    async attempt(deliveryMessage, _context, lane) {
      processed.push(deliveryMessage);
      return processMessage(deliveryMessage, lane);
    },
    organizations: memoryOrganizationStates(),
    contexts: async () => () => ({ endpoint: undefined, event: undefined }),
    queues: {
      async send(lane, messages) {
        for (const { message: deliveryMessage, until } of messages)
          asked.push({ what: 'send', lane, id: deliveryMessage.id, until });
        return [];
      },
      async hide(lane, receiptHandle, until) {
        asked.push({ what: 'hide', lane, id: receiptHandle, until });
      },
    },
    log,
    now: () => NOW,
    ...replaced,
  });
  return { run, asked, processed, log };
}

/** Attempts that each wait until the test lets them go on. */
class HeldAttempts {
  readonly #held = new Map<string, () => void>();
  /** The messages whose attempts have begun, in that order. */
  readonly begun: DeliveryMessage[] = [];

  /** Number of attempts in progress. */
  get underWay(): number {
    return this.#held.size;
  }

  readonly processMessage = (deliveryMessage: DeliveryMessage): Promise<MessageDisposition> => {
    this.begun.push(deliveryMessage);
    return new Promise((resolve) => {
      this.#held.set(deliveryMessage.id, () => resolve(DELETED));
    });
  };

  /** Ends all attempts in progress that are wanted. */
  end(wanted: (id: string) => boolean = () => true): void {
    for (const [id, goOn] of this.#held) {
      if (!wanted(id)) continue;
      this.#held.delete(id);
      goOn();
    }
  }
}

const until = later(NOW, seconds(30));

describe('delivery message in a batch', () => {
  it('stays hidden in its queue until its delivery is due', async () => {
    const { run, asked } = aDispatcher(() => ({ kind: 'keep', until }));
    const [message] = messagesFor(1);
    if (message === undefined) throw new Error('a message was to be made');

    expect(await run('retry', [message])).toEqual([message]);
    expect(asked).toEqual([{ what: 'hide', lane: 'retry', id: message.receiptHandle, until }]);
  });

  it('is sent to another queue before it is deleted', async () => {
    const { run, asked } = aDispatcher(() => ({ kind: 'move', lane: 'slow', until }));
    const messages = messagesFor(2);

    expect(await run('fresh', messages)).toEqual([]);
    expect(asked).toEqual(
      messages.map(({ message: deliveryMessage }) => ({
        what: 'send',
        lane: 'slow',
        id: deliveryMessage.id,
        until,
      })),
    );
  });

  it('stays when the other queue refuses it, independent of the rest', async () => {
    const messages = messagesFor(3);
    const unlucky = messages[1]?.message.id;
    const { run } = aDispatcher(() => ({ kind: 'move', lane: 'slow', until }), {
      queues: {
        send: async (_lane, sent) =>
          refuse(sent.filter(({ message: deliveryMessage }) => deliveryMessage.id === unlucky)),
        hide: () => Promise.resolve(),
      },
    });

    expect(await run('fresh', messages)).toEqual([messages[1]]);
  });
});

describe('batch of ten in which the context of some messages cannot be read', () => {
  it('keeps all messages, and does not fail, when nothing can be read', async () => {
    const messages = messagesFor(10);
    const { run, processed, log } = aDispatcher(() => DELETED, {
      contexts: () => Promise.reject(new Error('the table is down')),
    });

    expect(await run('fresh', messages)).toEqual(messages);

    expect(processed).toEqual([]);
    expect(log.entries).toHaveLength(10);
  });
});

describe('batch with messages of several generations and organizations', () => {
  it('reads and processes those of a present generation, drops those of an older one, and logs what stays', async () => {
    const states = memoryOrganizationStates();
    const [live, sandbox, absent, refused] = ['live', 'sandbox', 'absent', 'refused'].map(
      () => aTenant().orgId,
    );
    if (!live || !sandbox || !absent || !refused) throw new Error('four organizations were to be made');
    states.makeSandbox(sandbox);
    states.reset(sandbox);
    states.forget(absent);
    const of: typeof states.of = async (orgId) => {
      if (orgId === refused) throw new Error('the table is throttled');
      return states.of(orgId);
    };
    const read: string[] = [];
    const { run, processed, log } = aDispatcher(() => DELETED, {
      organizations: { of },
      contexts: async (messages) => {
        read.push(...messages.map(({ id }) => id));
        return () => ({ endpoint: undefined, event: undefined });
      },
    });
    const ofGeneration = (orgId: OrgId, generation: number) =>
      messagesFor(2, anEndpoint(), { orgId, generation });
    const present = [...ofGeneration(live, 0), ...ofGeneration(sandbox, 2)];
    const unread = [...ofGeneration(absent, 0), ...ofGeneration(refused, 1)];
    const idsOf = (all: readonly ReceivedDeliveryMessage[]) => all.map(({ message: { id } }) => id);

    const staying = await run('fresh', [...present, ...ofGeneration(sandbox, 1), ...unread]);

    expect(read).toEqual(idsOf(present));
    expect(processed.map(({ id }) => id)).toEqual(idsOf(present));
    expect(staying).toEqual(unread);
    expect(log.entries.map(({ code, fields }) => [code, fields.deliveryId])).toEqual(
      idsOf(unread).map((id) => ['DELIVERY_LEFT', id]),
    );
  });
});

describe('concurrent attempts of one organization', () => {
  it('begin with deliveries of live events, before those of redelivery jobs', async () => {
    const attempts = new HeldAttempts();
    const { run } = aDispatcher(attempts.processMessage);
    const endpoint = anEndpoint();
    const ofJob = messagesFor(8, endpoint).map((received) => {
      const { eventId, webhookId } = received.message;
      return {
        ...received,
        message: { ...received.message, id: deriveJobDeliveryId(eventId, webhookId, NOW) },
      };
    });
    const live = messagesFor(2, endpoint);
    const done = run('fresh', [...ofJob, ...live]);

    await turn();
    const first = [...live, ...ofJob.slice(0, ATTEMPTS_PER_ORGANIZATION - 2)];
    expect(attempts.begun).toEqual(first.map(({ message }) => message));
    while (attempts.underWay > 0) {
      attempts.end();
      await turn();
    }
    expect(await done).toEqual([]);
  });

  it('are not limited in the slow queue', async () => {
    const attempts = new HeldAttempts();
    const { run } = aDispatcher(attempts.processMessage);
    const done = run('slow', messagesFor(10));

    await turn();
    expect(attempts.underWay).toBe(10);
    attempts.end();
    await done;
  });
});

describe('message that waits in its batch for too long', () => {
  /** A batch of six messages of one organization, of which two wait for `waited` milliseconds. */
  async function waitingFor(waited: number, lane: Lane) {
    let now = NOW;
    const attempts = new HeldAttempts();
    const { run, asked } = aDispatcher(attempts.processMessage, { now: () => now });
    const messages = messagesFor(6);
    const done = run(lane, messages);
    await turn();
    now = later(NOW, waited);
    attempts.end();
    await turn();
    attempts.end();
    expect(await done).toEqual([]);
    return { asked, waiting: messages.slice(ATTEMPTS_PER_ORGANIZATION) };
  }

  it.each(['fresh', 'retry'] as const)('moves from the %s queue to the slow one', async (lane) => {
    const { asked, waiting } = await waitingFor(HELD_UP_AFTER_MS, lane);

    expect(asked.map(({ what, lane, id }) => [what, lane, id])).toEqual(
      waiting.map(({ message: deliveryMessage }) => ['send', 'slow', deliveryMessage.id]),
    );
  });

  it('moves in one request with all that wait, and stays when the slow queue refuses it', async () => {
    let now = NOW;
    const attempts = new HeldAttempts();
    const requests: DeliveryMessage[][] = [];
    const { run, log } = aDispatcher(attempts.processMessage, {
      now: () => now,
      queues: {
        async send(_lane, sent) {
          const deliveryMessages = sent.map(({ message: deliveryMessage }) => deliveryMessage);
          requests.push(deliveryMessages);
          return refuse(sent.slice(0, 1));
        },
        hide: () => Promise.resolve(),
      },
    });
    const messages = messagesFor(10);
    const waiting = messages.slice(ATTEMPTS_PER_ORGANIZATION);
    const done = run('fresh', messages);
    await turn();
    now = later(NOW, HELD_UP_AFTER_MS);
    attempts.end();

    expect(await done).toEqual(waiting.slice(0, 1));
    expect(requests).toEqual([waiting.map(({ message: deliveryMessage }) => deliveryMessage)]);
    expect(log.entries).toMatchObject([{ code: 'DELIVERY_LEFT' }]);
  });
});

describe('endpoint that does not answer', () => {
  it('delays no message of another organization in its batch', async () => {
    const attempts = new HeldAttempts();
    const { run } = aDispatcher(attempts.processMessage);
    const hanging = messagesFor(6);
    const others = [...messagesFor(1), ...messagesFor(1), ...messagesFor(5)];
    const isHanging = new Set<string>(hanging.map(({ message: deliveryMessage }) => deliveryMessage.id));
    const done = run('fresh', [...hanging, ...others]);

    for (let round = 0; round < 2; round += 1) {
      await turn();
      attempts.end((id) => !isHanging.has(id));
    }

    const begun = attempts.begun.map(({ id }) => id);
    expect(begun).toEqual(
      expect.arrayContaining(others.map(({ message: deliveryMessage }) => deliveryMessage.id)),
    );
    expect(begun.filter((id) => isHanging.has(id))).toHaveLength(ATTEMPTS_PER_ORGANIZATION);
    for (let round = 0; round < 2; round += 1) {
      attempts.end();
      await turn();
    }
    expect(await done).toEqual([]);
  });
});
