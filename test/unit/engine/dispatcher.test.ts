import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Disposition } from '../../../functions/domain/delivery.ts';
import { LANES } from '../../../functions/domain/lanes.ts';
import { ATTEMPTS_PER_ENDPOINT } from '../../../functions/engine/dispatcher.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aDispatcher, DELETED, HeldAttempts, messagesFor } from './a-dispatcher.ts';

const until = later(NOW, seconds(30));

describe('what becomes of a message', () => {
  it('is that it may be deleted when its delivery needs it no more', async () => {
    const { run, asked } = aDispatcher(() => DELETED);

    expect(await run('fresh', messagesFor(3))).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('is that it stays hidden in its own lane until its delivery is due', async () => {
    const { run, asked } = aDispatcher(() => ({ kind: 'keep', until }));
    const [message] = messagesFor(1);
    if (message === undefined) throw new Error('a message was to be made');

    expect(await run('retry', [message])).toEqual([message]);
    expect(asked).toEqual([{ what: 'hide', lane: 'retry', id: message.receiptHandle, until }]);
  });

  it('is that it is sent to another lane, and only then may be deleted', async () => {
    const { run, asked } = aDispatcher(() => ({ kind: 'move', lane: 'slow', until }));
    const messages = messagesFor(2);

    expect(await run('fresh', messages)).toEqual([]);
    expect(asked).toEqual(
      messages.map(({ reminder }) => ({ what: 'send', lane: 'slow', id: reminder.id, until })),
    );
  });

  it('is that it stays when the other lane refuses it, whatever happens to the rest', async () => {
    const messages = messagesFor(3);
    const unlucky = messages[1]?.reminder.id;
    const { run } = aDispatcher(() => ({ kind: 'move', lane: 'slow', until }), {
      queues: {
        send: async (_lane, sent) =>
          sent.flatMap(({ reminder }) => (reminder.id === unlucky ? [reminder] : [])),
        hide: () => Promise.resolve(),
      },
    });

    expect(await run('fresh', messages)).toEqual([messages[1]]);
  });

  it('is that it stays when the other lane cannot be reached, or it cannot be hidden', async () => {
    const down = async () => {
      throw new Error('the queue is down');
    };
    const messages = messagesFor(2);
    for (const disposition of [
      { kind: 'move', lane: 'slow', until },
      { kind: 'keep', until },
    ] satisfies Disposition[]) {
      const { run, log } = aDispatcher(() => disposition, { queues: { send: down, hide: down } });
      expect(await run('fresh', messages)).toEqual(messages);
      expect(log.entries).toHaveLength(2);
    }
  });

  it('is decided for each by itself: an error leaves only its own message', async () => {
    const fates = fc.array(fc.constantFrom('delete', 'keep', 'move', 'throw'), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fates, fc.constantFrom(...LANES), async (wanted, lane) => {
        const messages = wanted.flatMap(() => messagesFor(1));
        const fateOf = new Map(messages.map(({ reminder }, index) => [reminder.id, wanted[index]]));
        const { run, log } = aDispatcher(({ id }) => {
          switch (fateOf.get(id)) {
            case 'keep':
              return { kind: 'keep', until };
            case 'move':
              return { kind: 'move', lane: 'slow', until };
            case 'throw':
              throw new Error('the table is throttled');
            default:
              return DELETED;
          }
        });

        const staying = await run(lane, messages);

        expect(staying).toEqual(
          messages.filter((_, index) => wanted[index] === 'keep' || wanted[index] === 'throw'),
        );
        expect(log.entries.map(({ fields }) => fields.deliveryId)).toEqual(
          messages.filter((_, index) => wanted[index] === 'throw').map(({ reminder }) => reminder.id),
        );
      }),
    );
  });
});

describe('a batch whose context cannot be read', () => {
  it('fails as a whole before any attempt is made', async () => {
    const attempts = new HeldAttempts();
    const { run } = aDispatcher(attempts.deal, {
      contexts: async () => {
        throw new Error('the signing keys cannot be read');
      },
    });

    await expect(run('fresh', messagesFor(2))).rejects.toThrow('the signing keys cannot be read');
    expect(attempts.begun).toEqual([]);
  });
});

describe('attempts at one endpoint', () => {
  it.each(['fresh', 'retry'] as const)('are few at once in the %s lane', async (lane) => {
    const attempts = new HeldAttempts();
    const { run } = aDispatcher(attempts.deal);
    const done = run(lane, messagesFor(10));

    for (let ended = 0; ended < 10; ended += ATTEMPTS_PER_ENDPOINT) {
      await turn();
      expect(attempts.underWay).toBe(Math.min(ATTEMPTS_PER_ENDPOINT, 10 - ended));
      attempts.end();
    }
    expect(await done).toEqual([]);
  });

  it('go all at once in the slow lane, which is there to wait', async () => {
    const attempts = new HeldAttempts();
    const { run } = aDispatcher(attempts.deal);
    const done = run('slow', messagesFor(10));

    await turn();
    expect(attempts.underWay).toBe(10);
    attempts.end();
    await done;
  });
});

describe('a noisy neighbour: an endpoint that hangs', () => {
  it('delays no message of another endpoint in its batch', async () => {
    const attempts = new HeldAttempts();
    const { run } = aDispatcher(attempts.deal);
    const hanging = messagesFor(6);
    const others = [...messagesFor(1), ...messagesFor(1), ...messagesFor(5)];
    const isHanging = new Set<string>(hanging.map(({ reminder }) => reminder.id));
    const done = run('fresh', [...hanging, ...others]);

    for (let round = 0; round < 2; round += 1) {
      await turn();
      attempts.end((id) => !isHanging.has(id));
    }

    const begun = attempts.begun.map(({ id }) => id);
    expect(begun).toEqual(expect.arrayContaining(others.map(({ reminder }) => reminder.id)));
    expect(begun.filter((id) => isHanging.has(id))).toHaveLength(ATTEMPTS_PER_ENDPOINT);
    for (let round = 0; round < 2; round += 1) {
      attempts.end();
      await turn();
    }
    expect(await done).toEqual([]);
  });
});
