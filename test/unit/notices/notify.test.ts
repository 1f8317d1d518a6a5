import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { NotNotified } from '../../../functions/notices/notify.ts';
import { GateClosed } from '../../../functions/tenancy/gate.ts';
import { aBusEvent, aTenant, later, NOW, seconds } from '../../builders.ts';
import {
  aChange,
  aDisabling,
  admins,
  aNotifier,
  aWarning,
  DAY,
  LEASE,
  REFUSED,
  UNKNOWN,
} from './notifier-fixture.ts';

describe('change of content', () => {
  it('is sent to all admins in one e-mail, and its version counts as notified', async () => {
    const { run, sent, notified, counts, people } = aNotifier();
    people.admins = admins(3);

    await run(aChange({ version: 7 }));

    expect(sent).toMatchObject([
      { to: admins(3), subject: 'Content changed by 40%: Hours', text: expect.stringContaining('> came') },
    ]);
    expect(notified).toEqual([{ version: 7, at: NOW }]);
    expect(counts).toEqual({ sent: 1, failed: 0, unknown: 0, nobody: 0, overBudget: 0, ceiling: 0 });
  });

  it('within 24 hours of another at the URL sends no e-mail and marks no version', async () => {
    const { run, sent, notified, asked, clock } = aNotifier();
    const tenant = aTenant();
    const sourceId = newId('src', NOW);
    await run(aChange({ tenant, sourceId, version: 2 }));
    clock.elapse(DAY - 1);

    await run(aChange({ tenant, sourceId, version: 3 }));
    await run(aChange({ tenant, version: 9 }));

    expect(sent).toHaveLength(1);
    expect(notified).toHaveLength(1);
    expect(asked).toHaveLength(1);

    clock.elapse(1);
    await run(aChange({ tenant, sourceId, version: 4 }));
    expect(sent).toHaveLength(2);
    expect(notified.map(({ version }) => version)).toEqual([2, 4]);
  });

  it('is independent of one at another URL, or of another organization', async () => {
    const { run, sent } = aNotifier();
    const tenant = aTenant();
    await run(aChange({ tenant }));
    await run(aChange({ tenant, url: 'https://www.example.com/prices' }));
    await run(aChange());

    expect(sent).toHaveLength(3);
  });

  it('is ignored when its source is gone', async () => {
    const { run, sent, source } = aNotifier();
    source.isGone = true;

    await run(aChange());

    expect(sent).toEqual([]);
  });

  it('sends no e-mail when the organization has turned it off, and starts no 24 hours', async () => {
    const { run, sent, organization } = aNotifier();
    const tenant = aTenant();
    organization.contentChangeNotifications = false;
    await run(aChange({ tenant }));
    expect(sent).toEqual([]);

    organization.contentChangeNotifications = true;
    await run(aChange({ tenant, version: 3 }));
    expect(sent).toHaveLength(1);
  });

  it('names a source without a name by the title of its content', async () => {
    const { run, sent, source } = aNotifier();
    delete source.name;
    source.title = 'Our hours';

    await run(aChange());

    expect(sent[0]?.subject).toBe('Content changed by 40%: Our hours');
  });
});

describe('disabling of an endpoint', () => {
  it('is sent once, and again when the endpoint was enabled meanwhile', async () => {
    const { run, sent, register, clock, notified } = aNotifier();
    const event = aDisabling();
    const webhookId = newId('whk', NOW);
    register({ id: webhookId, url: 'https://receiver.example.com/hook' });
    const disabling = aDisabling({ webhookId });
    for (const days of [0, 30, 300]) {
      clock.elapse(days * DAY);
      await run(disabling);
    }
    await run({ ...disabling, id: 'the next disabling' });
    await run(event);

    expect(sent.map(({ subject }) => subject)).toEqual([
      'Webhook endpoint disabled: https://receiver.example.com/hook (timeout)',
      'Webhook endpoint disabled: https://receiver.example.com/hook (timeout)',
      `Webhook endpoint disabled: ${event.data.webhookId} (timeout)`,
    ]);
    expect(notified).toEqual([]);
  });
});

describe('warning of a failing endpoint', () => {
  const webhookId = newId('whk', NOW);
  const tenant = aTenant();

  it.each([
    ['recovered', { consecutiveFailures: 0 }],
    ['was disabled, which has an e-mail of its own', { consecutiveFailures: 10, status: 'auto_disabled' }],
    ['was deleted', undefined],
  ] as const)('is not sent when the endpoint %s meanwhile', async (_why, state) => {
    const { run, sent, register, log } = aNotifier();
    if (state !== undefined) register({ id: webhookId, ...state });

    await run(aWarning(webhookId));

    expect(sent).toEqual([]);
    expect(log.entries.map(({ code }) => code)).toEqual(['NEWS_OUTDATED']);
  });

  it('leaves the e-mail of the disabling alone', async () => {
    const { run, sent, register } = aNotifier();
    register({ id: webhookId, consecutiveFailures: 5 });
    await run(aWarning(webhookId, { tenant }));
    register({ id: webhookId, consecutiveFailures: 10, status: 'auto_disabled' });

    await run(aDisabling({ tenant, webhookId }));

    expect(sent.map(({ subject }) => subject.split(':')[0])).toEqual([
      'Webhook endpoint failing (5 of 10)',
      'Webhook endpoint disabled',
    ]);
  });
});

describe('sandbox', () => {
  it('sends no e-mail and reads no admins', async () => {
    const { run, sent, asked, states, log } = aNotifier();
    const tenant = aTenant({ generation: 1 });
    states.makeSandbox(tenant.orgId);

    await run(aDisabling({ tenant }));
    await run(aChange({ tenant }));

    expect(sent).toEqual([]);
    expect(asked).toEqual([]);
    expect(log.entries.map(({ level }) => level)).toEqual(['debug', 'debug']);
  });

  it('is assumed for an unknown organization: its event is repeated', async () => {
    const { run, sent, states } = aNotifier();
    const tenant = aTenant();
    states.forget(tenant.orgId);

    await expect(run(aDisabling({ tenant }))).rejects.toThrow(GateClosed);
    expect(sent).toEqual([]);
  });
});

describe('event that is not for admins', () => {
  it('fails, so that it reaches the dead-letter queue', async () => {
    const { run } = aNotifier();
    await expect(run(aBusEvent())).rejects.toThrow('admins are not notified of');
    await expect(run({ ...aDisabling(), data: {} })).rejects.toThrow();
  });
});

describe('organization without admins', () => {
  it('is one whose admins have no valid e-mail address', async () => {
    const { run, counts, people, log } = aNotifier();
    people.admins = ['ada@example.com\r\nBcc: everybody@example.com'];

    await run(aChange());

    expect(counts.nobody).toBe(1);
    expect(log.entries).toMatchObject([{ level: 'warn', fields: { unfit: 1 } }, { level: 'warn' }]);
  });
});

describe('more admins than an e-mail may have recipients', () => {
  it('get several e-mails, each admin one', async () => {
    const { run, sent, people, notified } = aNotifier();
    people.admins = admins(120);
    const event = aChange();
    await run(event);
    await run(event);

    expect(sent.map(({ to }) => to.length)).toEqual([50, 50, 20]);
    expect(sent.flatMap(({ to }) => to)).toEqual(admins(120));
    expect(notified).toHaveLength(2);
  });

  it('get the next e-mail together, when a retry has moved the 24 hours of some', async () => {
    const { run, untilDone, sent, people, results, clock } = aNotifier();
    people.admins = admins(120);
    const tenant = aTenant();
    results.push({ kind: 'sent' }, REFUSED);
    await untilDone(aChange({ tenant }));
    clock.elapse(DAY - 1);
    await run(aChange({ tenant, version: 3 }));
    expect(sent).toHaveLength(3);

    clock.elapse(1);
    await run(aChange({ tenant, version: 3 }));
    expect(sent.slice(3).flatMap(({ to }) => to)).toEqual(admins(120));
  });

  it('make the version count as notified when one e-mail was sent and another is unknown', async () => {
    const { run, sent, people, results, notified, counts } = aNotifier();
    people.admins = admins(60);
    results.push(UNKNOWN);

    await run(aChange());

    expect(sent.map(({ to }) => to.length)).toEqual([10]);
    expect(notified).toHaveLength(1);
    expect(counts).toMatchObject({ sent: 1, unknown: 1 });
  });
});

describe('concurrent workers', () => {
  it('send one e-mail, and the others repeat the event and find it done', async () => {
    const { run, sent, untilDone } = aNotifier();
    const event = aChange();
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => run(event)));

    expect(sent).toHaveLength(1);
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await untilDone(event)).toBe(1);
  });
});

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
