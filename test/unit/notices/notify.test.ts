import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { MAIL_BUDGETS, type MailKind } from '../../../functions/notices/mail.ts';
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

describe('e-mail that was certainly not sent', () => {
  it('is repeated until it is sent, and does not start the 24 hours', async () => {
    const { untilDone, sent, results, notified, counts } = aNotifier();
    results.push(REFUSED, REFUSED, REFUSED);

    expect(await untilDone(aChange())).toBe(4);

    expect(sent).toHaveLength(1);
    expect(notified).toHaveLength(1);
    expect(counts).toMatchObject({ sent: 1, failed: 3, unknown: 0 });
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

/** An event of each kind about something new, as a loop of API calls can cause any number of. */
const CAUSES: Record<
  MailKind,
  (tenant: ReturnType<typeof aTenant>, notifier: ReturnType<typeof aNotifier>) => BusEvent
> = {
  'source.changed': (tenant) => {
    const sourceId = newId('src', NOW);
    return aChange({ tenant, sourceId, url: `https://www.example.com/${sourceId}` });
  },
  'webhook.failing': (tenant, { register }) => {
    const id = newId('whk', NOW);
    register({ id, consecutiveFailures: 5 });
    return aWarning(id, { tenant });
  },
  'webhook.disabled': (tenant) => aDisabling({ tenant, webhookId: newId('whk', NOW) }),
};
const KINDS = Object.keys(CAUSES) as MailKind[];

describe('e-mails to the admins of an organization', () => {
  it.each(KINDS)('of kind %s beyond its budget are counted and logged, and not sent later', async (kind) => {
    const notifier = aNotifier();
    notifier.people.admins = admins(10);
    const tenant = aTenant();
    const { organization } = MAIL_BUDGETS[kind];
    const events = Array.from({ length: organization / 10 + 2 }, () => CAUSES[kind](tenant, notifier));
    for (const event of events) await notifier.run(event);

    expect(notifier.sent).toHaveLength(organization / 10);
    expect(notifier.counts.overBudget).toBe(2);
    // The first refusal closes the budget: no admins are read for the others.
    expect(notifier.asked).toHaveLength(organization / 10 + 1);
    const logged = notifier.log.entries.filter(({ code }) => code === 'MAIL_OVER_BUDGET');
    expect(logged.map(({ fields }) => fields?.eventId)).toEqual(events.slice(-2).map(({ id }) => id));
  });

  it('about content wait for no other organization, and tell the operator of a used-up ceiling', async () => {
    const notifier = aNotifier({ content: { organization: 100, stage: 1 } });
    const [first, second] = [aTenant(), aTenant()];
    await notifier.run(CAUSES['source.changed'](first, notifier));
    await notifier.run(CAUSES['source.changed'](second, notifier));
    await notifier.run(CAUSES['webhook.disabled'](second, notifier));

    expect(notifier.sent.map(({ subject }) => subject.split(' ')[0])).toEqual(['Content', 'Webhook']);
    expect(notifier.counts).toMatchObject({ overBudget: 1, ceiling: 1 });
  });

  it('about content that were postponed wait for the budget of another day, and no others do', async () => {
    const { run, counts, announced, clock } = aNotifier({ content: { organization: 1, stage: 100 } });
    const tenant = aTenant();
    for (const isPostponed of [undefined, undefined, true]) {
      const change = aChange({ tenant, url: `https://www.example.com/${newId('src', NOW)}` });
      await run({ ...change, data: { ...Object(change.data), isPostponed } });
    }
    expect(counts).toMatchObject({ sent: 1, overBudget: 2 });
    const tomorrow = later(clock.now(), seconds(DAY)).toISOString().slice(0, 10);
    expect(announced).toEqual([new Date(tomorrow)]);
  });
});
