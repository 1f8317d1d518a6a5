import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { deriveJobDeliveryId, newId, type OrgId } from '../../../functions/aws/ids.ts';
import type { DeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { ATTEMPTS_PER_ORGANIZATION, HELD_UP_AFTER_MS } from '../../../functions/delivery/dispatch.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { aDispatcher, DELETED, HeldAttempts, messagesFor } from './dispatcher-fixture.ts';

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
  it.each([[1], [3], [10]])('keeps those %i messages, and processes the others', async (broken) => {
    const messages = Array.from({ length: 10 }, () => messagesFor(1)).flat();
    const stays = messages.slice(0, broken);
    const { run, processed, log } = aDispatcher(() => DELETED, {
      contexts: async () => (deliveryMessage) => {
        if (stays.some((message) => message.message === deliveryMessage))
          throw new Error('the row is unreadable');
        return { endpoint: undefined, event: undefined };
      },
    });

    expect(await run('fresh', messages)).toEqual(stays);

    expect(processed).toEqual(messages.slice(broken).map(({ message: deliveryMessage }) => deliveryMessage));
    expect(log.entries).toMatchObject(
      stays.map(({ message: { id: deliveryId } }) => ({
        code: 'DELIVERY_LEFT',
        fields: { deliveryId, error: { message: 'the row is unreadable' } },
      })),
    );
  });

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
  /**
   * Messages of a sandbox at generation 2, of a live organization, and of two organizations that cannot be
   * read.
   */
  function ofAllKinds() {
    const states = memoryOrganizationStates();
    const [live, sandbox, absent, refused] = Array.from({ length: 4 }, () => newId('org', NOW));
    if (!live || !sandbox || !absent || !refused) throw new Error('four organizations were to be made');
    states.makeSandbox(sandbox);
    states.reset(sandbox);
    states.forget(absent);
    const asked: OrgId[] = [];
    const of: typeof states.of = async (orgId) => {
      asked.push(orgId);
      if (orgId === refused) throw new Error('the table is throttled');
      return states.of(orgId);
    };
    const messages = [
      ...messagesFor(2, anEndpoint(), { orgId: live, generation: 0 }),
      ...messagesFor(2, anEndpoint(), { orgId: sandbox, generation: 1 }),
      ...messagesFor(2, anEndpoint(), { orgId: sandbox, generation: 2 }),
      ...messagesFor(2, anEndpoint(), { orgId: absent, generation: 0 }),
      ...messagesFor(2, anEndpoint(), { orgId: refused, generation: 1 }),
    ];
    const listIds = (...orgIds: OrgId[]) =>
      messages
        .filter(({ message: deliveryMessage }) => orgIds.includes(deliveryMessage.orgId))
        .map(({ message: deliveryMessage }) => deliveryMessage.id);
    return { states: { of }, messages, asked, live, sandbox, absent, refused, listIds };
  }

  it('reads and processes those of a present generation, and drops those of an older one', async () => {
    const { states, messages, live, sandbox, absent, refused, listIds } = ofAllKinds();
    const read: string[] = [];
    const { run, processed } = aDispatcher(() => DELETED, {
      organizations: states,
      contexts: async (deliveryMessages) => {
        read.push(...deliveryMessages.map(({ id }) => id));
        return () => ({ endpoint: undefined, event: undefined });
      },
    });

    const staying = await run('fresh', messages);

    const current = [...listIds(live), ...listIds(sandbox).slice(2)];
    expect(read).toEqual(current);
    expect(processed.map(({ id }) => id)).toEqual(current);
    expect(staying.map(({ message: deliveryMessage }) => deliveryMessage.id)).toEqual(
      listIds(absent, refused),
    );
  });

  it('logs each message of an organization that cannot be read, and nothing else', async () => {
    const { states, messages, absent, refused, listIds } = ofAllKinds();
    const { run, log } = aDispatcher(() => DELETED, { organizations: states });

    await run('fresh', messages);

    expect(log.entries.map(({ code, fields }) => [code, fields.deliveryId])).toEqual(
      listIds(absent, refused).map((id) => ['DELIVERY_LEFT', id]),
    );
  });

  it('reads each organization once', async () => {
    const { states, messages, asked, live, sandbox, absent, refused } = ofAllKinds();

    await aDispatcher(() => DELETED, { organizations: states }).run('fresh', messages);

    expect(asked).toEqual([live, sandbox, absent, refused]);
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
