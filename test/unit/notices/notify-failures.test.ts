import { describe, expect, it } from 'vitest';
import { NotNotified } from '../../../functions/notices/notify.ts';
import { aTenant, later, NOW, seconds } from '../../builders.ts';
import { aChange, aNotifier, DAY, LEASE, REFUSED, UNKNOWN } from './notifier-fixture.ts';

describe('e-mail that was certainly not sent', () => {
  it('is repeated until it is sent, and does not start the 24 hours', async () => {
    const { untilDone, sent, results, notified, counts } = aNotifier();
    results.push(REFUSED, REFUSED, REFUSED);

    expect(await untilDone(aChange())).toBe(4);

    expect(sent).toHaveLength(1);
    expect(notified).toHaveLength(1);
    expect(counts).toMatchObject({ sent: 1, failed: 3, unknown: 0 });
  });

  it('leaves the 24 hours of the previous one unchanged', async () => {
    const { run, sent, results, clock } = aNotifier();
    const tenant = aTenant();
    const first = aChange({ tenant });
    await run(first);
    clock.elapse(DAY);
    results.push(REFUSED);
    await expect(run(aChange({ tenant, version: 3 }))).rejects.toThrow(NotNotified);

    await run(first);
    expect(sent).toHaveLength(1);
    await run(aChange({ tenant, version: 4 }));
    expect(sent).toHaveLength(2);
  });

  it.each(['directory', 'organizations', 'sources', 'mailings'] as const)(
    'is repeated without a claim when the %s cannot be read',
    async (broken) => {
      const { runWith, ports, run, sent } = aNotifier();
      const fail = () => Promise.reject(new Error('throttled'));
      const port = { ...ports[broken], find: fail, adminsOf: fail, state: fail };
      const event = aChange();

      await expect(runWith({ [broken]: port })(event)).rejects.toThrow('throttled');
      await run(event);

      expect(sent).toHaveLength(1);
    },
  );
});

describe('e-mail whose outcome is unknown', () => {
  it('is not repeated, and its version does not count as notified', async () => {
    const { run, sent, results, notified, counts, clock } = aNotifier();
    const event = aChange();
    results.push(UNKNOWN);
    await run(event);
    clock.elapse(LEASE);
    await run(event);

    expect(sent).toEqual([]);
    expect(notified).toEqual([]);
    expect(counts).toMatchObject({ sent: 0, unknown: 2 });
  });

  it('starts 24 hours from the last time at which it can have been sent', async () => {
    const { run, sent, results, clock } = aNotifier();
    const tenant = aTenant();
    results.push('taken-without-answer');
    await run(aChange({ tenant, version: 2 }));

    clock.elapse(LEASE + DAY - 1);
    await run(aChange({ tenant, version: 3 }));
    expect(sent).toHaveLength(1);

    clock.elapse(1);
    await run(aChange({ tenant, version: 4 }));
    expect(sent).toHaveLength(2);
  });

  it('is logged for the operator when its worker was lost', async () => {
    const { runWith, run, ports, counts, log, clock } = aNotifier();
    const event = aChange();
    const lost = { send: () => Promise.reject(new Error('the process ended')) };
    await expect(runWith({ mailer: { ...ports.mailer, ...lost } })(event)).rejects.toThrow();

    await expect(run(event)).rejects.toThrow(NotNotified);
    clock.elapse(LEASE);
    await run(event);

    expect(counts).toMatchObject({ sent: 0, unknown: 1 });
    expect(log.entries.at(-1)).toMatchObject({ level: 'error', fields: { eventId: event.id } });
  });
});

describe('e-mail that was sent', () => {
  it('is done and not repeated, even when that cannot be recorded', async () => {
    const { runWith, run, ports, sent, notified, clock } = aNotifier();
    const tenant = aTenant();
    const event = aChange({ tenant });
    const settle = () => Promise.reject(new Error('the table is out of reach'));
    await runWith({ mailings: { ...ports.mailings, settle } })(event);
    expect(notified).toHaveLength(1);

    clock.elapse(LEASE);
    await run(event);
    await run(aChange({ tenant, version: 3 }));

    expect(sent).toHaveLength(1);
  });

  it('is recorded at its source by a retry when that failed at first', async () => {
    const { runWith, ports, sent, notified, untilDone } = aNotifier();
    const event = aChange();
    const failing = { ...ports.sources, notified: () => Promise.reject(new Error('throttled')) };
    await expect(runWith({ sources: failing })(event)).rejects.toThrow('throttled');
    expect(notified).toEqual([]);

    await untilDone(event);

    expect(sent).toHaveLength(1);
    expect(notified).toHaveLength(1);
  });

  it('starts its 24 hours when it ends', async () => {
    const { runWith, run, ports, sent, clock } = aNotifier();
    const tenant = aTenant();
    const slow: typeof ports.mailer = {
      async send(mail, permit) {
        clock.elapse(5);
        return ports.mailer.send(mail, permit);
      },
    };
    await runWith({ mailer: slow })(aChange({ tenant, version: 2 }));
    clock.elapseUntil(later(NOW, seconds(DAY + 4)));
    await run(aChange({ tenant, version: 3 }));
    expect(sent).toHaveLength(1);
    clock.elapse(1);
    await run(aChange({ tenant, version: 3 }));
    expect(sent).toHaveLength(2);
  });
});
