import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  buildContentMailKey,
  getMailingState,
  type Mailing,
  type MailRequest,
} from '../../../functions/notices/mailings.ts';
import { groupRecipients, MAX_RECIPIENTS } from '../../../functions/notices/notify.ts';
import { later, NOW, seconds } from '../../builders.ts';

const DAY = 86_400;
const aRequest = (changes: Partial<MailRequest> = {}): MailRequest => ({
  kind: 'source.changed',
  orgId: newId('org', NOW),
  about: 'something',
  eventId: 'this',
  windowSeconds: DAY,
  ...changes,
});
/** The time of so many seconds from now. */
const at = (second: number): string => later(NOW, seconds(second)).toISOString();
const getState = (mailing: Mailing, changes: Partial<MailRequest> = {}) =>
  getMailingState(mailing, aRequest(changes), NOW);
const aClaim = (claimedFor: string, leaseUntil: string): Mailing => ({
  claimedFor,
  claimToken: 'token',
  leaseUntil,
});

describe('mailing', () => {
  it('is free when nothing is stored', () => {
    expect(getState({})).toBe('free');
    expect(getState({}, { windowSeconds: Infinity })).toBe('free');
  });

  it('is done when it was sent for its event, even long ago', () => {
    expect(getState({ sentAt: at(-10 * DAY), sentFor: 'this' })).toBe('done');
  });

  it('is free for another event when the window is over', () => {
    expect(getState({ sentAt: at(-DAY + 1), sentFor: 'other' })).toBe('within-window');
    expect(getState({ sentAt: at(-DAY), sentFor: 'other' })).toBe('free');
    expect(getState({ sentAt: at(-1000 * DAY), sentFor: 'other' }, { windowSeconds: Infinity })).toBe(
      'within-window',
    );
  });

  it.each(['this', 'other'])('is busy while another worker sends it for %s event', (event) => {
    expect(getState(aClaim(event, at(1)))).toBe('busy');
  });

  it('is unknown when the lease of its own event has ended', () => {
    expect(getState(aClaim('this', at(0)))).toBe('unknown');
    expect(getState(aClaim('this', at(-2 * DAY)))).toBe('unknown');
  });

  it('of another event with an unknown outcome counts as sent at the end of its lease', () => {
    expect(getState(aClaim('other', at(-DAY + 1)))).toBe('within-window');
    expect(getState(aClaim('other', at(-DAY)))).toBe('free');
  });

  it('is done although another event has claimed the next one', () => {
    expect(getState({ sentAt: at(-2 * DAY), sentFor: 'this', ...aClaim('other', at(1)) })).toBe('done');
  });
});

describe('mail key', () => {
  it('of content is the normalized URL', () => {
    expect(buildContentMailKey('https://Example.com:443/a/../b#top')).toBe(
      buildContentMailKey('https://example.com/b'),
    );
    expect(buildContentMailKey('https://example.com/b?x')).not.toBe(
      buildContentMailKey('https://example.com/b'),
    );
    expect(buildContentMailKey('no URL')).toMatch(/^mail#source#[0-9a-f]{64}$/);
  });
});

describe('recipients', () => {
  it('get one e-mail, in any spelling', () => {
    expect(
      groupRecipients(['Ada@Example.com', 'bob@example.com', 'ada@example.com']).groups.flat(),
    ).toHaveLength(2);
  });

  it.each([
    'ada@example.com\r\nBcc: all@example.com',
    'ada@example.com, bob@example.com',
    '<ada@example.com>',
    'Ada <ada@example.com>',
    'ädä@example.com',
    'ada@',
    '@example.com',
    'ada..b@example.com',
    '',
  ])('at %j are rejected, and the others are not', (unfit) => {
    expect(groupRecipients([unfit, 'bob@example.com'])).toEqual({ groups: [['bob@example.com']], unfit: 1 });
  });

  it('are deduplicated and split, for any number', () => {
    const addresses = fc.array(fc.emailAddress(), { maxLength: 150 });
    fc.assert(
      fc.property(addresses, (all) => {
        const { groups, unfit } = groupRecipients(all);
        for (const group of groups) expect(group.length).toBeLessThanOrEqual(MAX_RECIPIENTS);
        expect(unfit).toBe(0);
        const lower = (each: string) => each.toLowerCase();
        expect(new Set(groups.flat().map(lower))).toEqual(new Set(all.map(lower)));
        expect(groups.flat()).toHaveLength(new Set(all.map(lower)).size);
      }),
    );
  });
});
