import { describe, expect, it } from 'vitest';
import { CheckInProgress, MAX_STARTS } from '../../../functions/knowledge/check-source.ts';
import { UnknownTenant } from '../../../functions/tenancy/organizations.ts';
import { aBusEvent, aSource, later, seconds } from '../../builders.ts';
import { aCheck, EVERY_SECONDS, LEASE_SECONDS, type TestCheck } from './source-check-fixture.ts';

/** Lets an hour pass, and checks the source. */
async function anHourLater(check: TestCheck, source: Parameters<TestCheck['event']>[0]) {
  check.clock.elapse(EVERY_SECONDS);
  await check.processMessage(check.event(source));
  return check.sources.find(source, source.id);
}

describe('first check of a source', () => {
  it('imports its text as the baseline, notifies no admin, and schedules the next check', async () => {
    const check = aCheck();
    const source = await check.added();

    await check.processMessage(check.event(source));

    expect(await check.sources.find(source, source.id)).toMatchObject({
      content: { version: 1, words: 4 },
      baseline: 1,
      lastCheckedAt: check.clock.now().toISOString(),
      nextCheckAt: later(check.clock.now(), seconds(EVERY_SECONDS)).toISOString(),
    });
    expect(await check.sources.notices()).toEqual([]);
  });

  it('leaves the source without content when it fails, and the next check imports', async () => {
    const check = aCheck();
    const source = await check.added();
    check.finds({ kind: 'failed', errorCode: 'timeout', error: 'timed out after 20 s' });
    await check.processMessage(check.event(source));
    const failing = await check.sources.find(source, source.id);
    expect(failing).toMatchObject({
      lastError: 'timed out after 20 s',
      lastErrorCode: 'timeout',
      failures: 1,
    });
    expect(failing).not.toHaveProperty('content');

    check.shows('one two');
    expect(await anHourLater(check, source)).toMatchObject({ content: { version: 1 }, baseline: 1 });
  });

  it('fails when the server answers that the content is not modified', async () => {
    const check = aCheck();
    const source = await check.added();
    check.finds({ kind: 'not-modified' });

    await check.processMessage(check.event(source));

    expect(await check.sources.find(source, source.id)).toMatchObject({
      lastError: 'the server answered 304 (Not Modified), but no version is stored',
    });
  });
});

describe('check of a known source', () => {
  it.each([
    ['not modified', { kind: 'not-modified' } as const],
    ['the same text', { kind: 'fetched', text: 'one two three four' } as const],
  ])('creates no version of unchanged content: %s', async (_, finding) => {
    const check = aCheck();
    const source = await check.added();
    await check.processMessage(check.event(source));
    check.finds(finding);

    const after = await anHourLater(check, source);

    expect(after).toMatchObject({ content: { version: 1 }, checks: 2 });
    expect(after?.lastChangedAt).toBe(later(check.clock.now(), -seconds(EVERY_SECONDS)).toISOString());
    expect(await check.sources.versionsOf(source)).toEqual([1]);
  });

  it('keeps the content after a failure, and stores a bounded error of one line', async () => {
    const check = aCheck();
    const source = await check.added();
    await check.processMessage(check.event(source));
    check.finds({ kind: 'failed', errorCode: 'dns', error: `bad\n  content ${'x'.repeat(500)}` });

    const failing = await anHourLater(check, source);

    expect(failing).toMatchObject({ content: { version: 1 }, baseline: 1, failures: 1 });
    expect(failing?.lastError).toMatch(/^bad content x+$/);
    expect(failing?.lastError).toHaveLength(300);
    expect(failing?.nextCheckAt).toBe(later(check.clock.now(), seconds(EVERY_SECONDS)).toISOString());
  });

  it('reports a change over the threshold, with the added and the removed text', async () => {
    const check = aCheck();
    const source = await check.added();
    await check.processMessage(check.event(source));
    check.shows('one two three five');

    const after = await anHourLater(check, source);

    expect(after).toMatchObject({
      content: { version: 2 },
      measured: { from: 1, difference: 25 },
      baseline: 1,
    });
    expect(await check.sources.notices()).toMatchObject([
      {
        id: `${source.id}#changed#2`,
        type: 'source.changed',
        orgId: source.orgId,
        generation: 0,
        data: { sourceId: source.id, url: source.url, kind: 'url', version: 2, difference: 25 },
      },
    ]);
    const [notice] = await check.sources.notices();
    expect(notice?.data.added).toContain('five');
    expect(notice?.data.removed).toContain('four');
  });

  it('reports a text that becomes empty, such as that of a feed without items, and its return', async () => {
    const check = aCheck();
    const source = await check.added({ kind: 'feed' });
    await check.processMessage(check.event(source));
    check.shows('');

    const emptied = await anHourLater(check, source);

    expect(emptied).toMatchObject({ content: { version: 2, words: 0 }, measured: { difference: 100 } });
    expect(emptied).not.toHaveProperty('lastError');
    expect(emptied).not.toHaveProperty('lastErrorCode');
    expect(await check.sources.notices()).toMatchObject([
      { data: { difference: 100, added: '', removed: 'one two three four' } },
    ]);
    expect(await anHourLater(check, source)).toMatchObject({ content: { version: 2 } });

    check.shows('five');
    expect(await anHourLater(check, source)).toMatchObject({ content: { version: 3, words: 1 } });
  });

  it('imports an empty text, and measures from it', async () => {
    const check = aCheck();
    check.shows('');
    const source = await check.added({ kind: 'feed' });
    await check.processMessage(check.event(source));
    expect(await check.sources.find(source, source.id)).toMatchObject({ content: { words: 0 }, baseline: 1 });

    check.shows('one');
    expect(await anHourLater(check, source)).toMatchObject({ measured: { from: 1, difference: 100 } });
    expect(await check.sources.notices()).toMatchObject([{ data: { added: 'one', removed: '' } }]);
  });

  it('reports no change that equals the threshold', async () => {
    const check = aCheck();
    check.sets({ contentChangeThreshold: 25 });
    const source = await check.added();
    await check.processMessage(check.event(source));
    check.shows('one two three five');

    expect(await anHourLater(check, source)).toMatchObject({ measured: { from: 1, difference: 25 } });
    expect(await check.sources.notices()).toEqual([]);
  });

  it('measures a change without a report when the organization has turned notifications off', async () => {
    const check = aCheck();
    check.sets({ contentChangeNotifications: false });
    const source = await check.added();
    await check.processMessage(check.event(source));
    check.shows('five six');

    expect(await anHourLater(check, source)).toMatchObject({ measured: { from: 1, difference: 100 } });
    expect(await check.sources.notices()).toEqual([]);
  });

  it('keeps the texts that can become the baseline, and the latest', async () => {
    const check = aCheck();
    const source = await check.added();
    for (const text of ['a b', 'c d', 'e f', 'g h']) {
      check.shows(text);
      await anHourLater(check, source);
    }
    // Each version was reported, and no notification has been sent yet.
    expect(await check.sources.versionsOf(source)).toEqual([1, 2, 3, 4]);

    await check.sources.notified(source, source.id, 3, check.clock.now());
    check.shows('i j');
    expect(await anHourLater(check, source)).toMatchObject({ measured: { from: 3, difference: 100 } });
    expect(await check.sources.versionsOf(source)).toEqual([1, 3, 4, 5]);
  });

  it('bounds the number of stored texts when no notification is sent for long', async () => {
    const check = aCheck();
    const source = await check.added();
    for (let hour = 1; hour <= 40; hour += 1) {
      check.shows(`text${hour}`);
      await anHourLater(check, source);
    }
    expect((await check.sources.versionsOf(source)).length).toBeLessThanOrEqual(12);
    expect((await check.sources.find(source, source.id))?.stored.map(({ version }) => version)).toEqual(
      await check.sources.versionsOf(source),
    );

    // The text of a notified version may be deleted by then: the oldest stored one takes its place.
    await check.sources.notified(source, source.id, 5, check.clock.now());
    check.shows('text41');
    expect(await anHourLater(check, source)).toMatchObject({ measured: { from: 5, difference: 100 } });
  });

  it('starts again from a new baseline when the text to compare with is missing, and logs it', async () => {
    const check = aCheck();
    const source = await check.added();
    await check.processMessage(check.event(source));
    await check.sources.deleteAllVersions(source);
    check.shows('five six');

    expect(await anHourLater(check, source)).toMatchObject({ content: { version: 2 }, baseline: 2 });
    expect(await check.sources.notices()).toEqual([]);
    expect(check.log.entries).toMatchObject([{ level: 'error', fields: { version: 1 } }]);
  });
});

describe('source checker', () => {
  it('ignores an event that is older than the last check', async () => {
    const check = aCheck();
    const source = await check.added();
    const asked = Array.from({ length: 5 }, (_, index) =>
      check.event(source, later(check.clock.now(), -index)),
    );
    for (const event of asked) await check.processMessage(event);

    expect(check.looks).toBe(1);
  });

  it('ignores a source that is gone, or whose generation was deleted by a reset', async () => {
    const check = aCheck();
    await check.processMessage(check.event(aSource()));
    check.states.makeSandbox(check.organization.id);
    const source = await check.added({ generation: 1 });
    check.states.reset(check.organization.id);
    await check.processMessage(check.event(source));

    expect(check.looks).toBe(0);
    expect(await check.sources.find(source, source.id)).toEqual(source);
  });

  it('ignores an event that is older than the check in progress', async () => {
    const check = aCheck();
    const source = await check.added();
    const event = check.event(source);
    const terms = { askedAt: check.clock.now(), now: check.clock.now(), leaseSeconds: LEASE_SECONDS };
    await check.sources.lease(source, terms);

    await check.processMessage(event);
    expect(check.looks).toBe(0);
  });
});

describe('source checker whose message is received again', () => {
  it('fails for an event that is newer than the check in progress', async () => {
    const check = aCheck();
    const source = await check.added();
    const terms = { askedAt: check.clock.now(), now: check.clock.now(), leaseSeconds: LEASE_SECONDS };
    await check.sources.lease(source, terms);
    check.clock.elapse(1);

    await expect(check.processMessage(check.event(source))).rejects.toThrow(CheckInProgress);
    expect(check.looks).toBe(0);
  });

  it('fails for an event of an unknown organization', async () => {
    const check = aCheck();
    const source = await check.added();
    check.states.forget(source.orgId);

    await expect(check.processMessage(check.event(source))).rejects.toThrow(UnknownTenant);
  });

  it.each([
    ['of another type', { type: 'message.received' }],
    ['that names no source', { type: 'source.check', data: { sourceId: 'whk_1' } }],
  ])('fails for an event %s, so that none is dropped unread', async (_, changes) => {
    const check = aCheck();
    await expect(
      check.processMessage(aBusEvent({ ...changes, orgId: check.organization.id })),
    ).rejects.toThrow();
  });
});

describe('source whose checks stop their worker', () => {
  it('fails after some starts without another fetch, and is checked again an hour later', async () => {
    const check = aCheck();
    const source = await check.added();
    const dying = check.worker(async (call) => {
      if (call === 'page.look') throw new Error('out of memory');
    });
    const event = check.event(source);
    for (let time = 1; time <= MAX_STARTS; time += 1) {
      await expect(dying(event)).rejects.toThrow('out of memory');
      check.clock.elapse(LEASE_SECONDS);
    }

    await dying(event);

    expect(await check.sources.find(source, source.id)).toMatchObject({
      lastError: 'the content could not be processed',
      starts: 0,
    });
    expect(await anHourLater(check, source)).toMatchObject({ content: { version: 1 } });
  });
});

describe('deleted source', () => {
  it('leaves no texts when it is deleted during a check', async () => {
    const check = aCheck();
    const source = await check.added();
    const slow = check.worker(async (call, stage) => {
      if (call !== 'page.look' || stage !== 'answering') return;
      await check.sources.remove(source, source.id);
      await check.processMessage(check.deleted(source));
    });

    await slow(check.event(source));

    expect(await check.sources.versionsOf(source)).toEqual([]);
    expect(await check.sources.find(source, source.id)).toBeUndefined();
    expect(check.outcomes).toEqual([]);
  });
});
