import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { returnPath } from '../../../functions/api/sign-in/sign-in.ts';
import { newId } from '../../../functions/aws/ids.ts';
import { AttemptErrorCode } from '../../../functions/delivery/delivery.ts';
import type { MailKind } from '../../../functions/notices/mail.ts';
import {
  composeContentChangeMail,
  composeDisabledMail,
  composeFailingMail,
  type MailText,
} from '../../../functions/notices/mail.ts';
import { NOW } from '../../builders.ts';
import { MAIL_LINKS } from '../../support/mail-links.ts';

const ORIGIN = 'https://dashboard.example.com';
const common = { organization: 'Example Ltd', dashboardOrigin: ORIGIN };
const receivers = [newId('whk', NOW), newId('chn', NOW)].map((webhookId) => ({
  ...common,
  webhookId,
  url: 'https://receiver.example.com/hook',
  lastError: 'the receiver answered 500',
}));
const failing = AttemptErrorCode.options.flatMap((lastErrorCode) =>
  receivers.map((receiver) => ({ ...receiver, lastErrorCode })),
);

/** E-mails of each kind, in all their forms. */
const MAILS: Record<MailKind, MailText[]> = {
  'source.changed': [
    composeContentChangeMail({
      ...common,
      sourceId: newId('src', NOW),
      name: 'Prices',
      url: 'https://www.example.com/prices',
      kind: 'url',
      difference: 40,
      added: '',
      removed: '',
      noticeSeconds: 86_400,
    }),
  ],
  'webhook.failing': failing.map((each) => composeFailingMail({ ...each, consecutiveFailures: 5 })),
  'webhook.disabled': [...failing, ...receivers].map((receiver) =>
    composeDisabledMail({ ...receiver, disabledAt: NOW.toISOString() }),
  ),
};
const listLinks = ({ html }: MailText): string[] =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);

describe('the links of e-mails', () => {
  it('are those that the tests of the dashboard open, and sections of the page of causes', () => {
    const links = Object.values(MAILS).flat().flatMap(listLinks);
    const paths = links.map((link) => link.replace(ORIGIN, '').replace(/_[0-9a-f]{32}/, '_1'));
    const causes = [...readFileSync('docs/reference/causes.md', 'utf8').matchAll(/^## `(\w+)`$/gm)];
    expect(new Set(paths)).toEqual(
      new Set([...MAIL_LINKS, ...causes.map(([, code]) => `/api/docs#cause-${code}`)]),
    );
  });

  it.each(Object.entries(MAILS))('are in the text and in the HTML of %s', (_kind, mails) => {
    for (const mail of mails) {
      expect(listLinks(mail)).not.toEqual([]);
      for (const link of listLinks(mail)) expect(mail.text.split('\n')).toContain(link);
    }
  });

  it.each(MAIL_LINKS)('are where a sign-in returns to: %s', (path) => {
    expect(returnPath(path)).toBe(path);
  });
});
