import type { EndpointId } from '../../functions/domain/ids.ts';
import { newId } from '../../functions/domain/ids.ts';
import {
  composeContentChangeMail,
  composeDisabledMail,
  composeFailingMail,
  type MailText,
} from '../../functions/domain/mail.ts';
import type { MailKind } from '../../functions/domain/mailing.ts';
import { NOW } from '../builders.ts';

const organization = 'Example Ltd';

/** E-mails of each kind in all their forms, with links to a dashboard. */
export function everyMail(dashboardOrigin: string): Record<MailKind, MailText[]> {
  const receivers = [newId('whk', NOW) as EndpointId, newId('chn', NOW)].map((webhookId) => ({
    webhookId,
    organization,
    url: 'https://receiver.example.com/hook',
    lastError: undefined,
    dashboardOrigin,
  }));
  return {
    'source.changed': [
      composeContentChangeMail({
        organization,
        sourceId: newId('src', NOW),
        name: 'Prices',
        url: 'https://www.example.com/prices',
        kind: 'url',
        difference: 40,
        added: '',
        removed: '',
        noticeSeconds: 86_400,
        dashboardOrigin,
      }),
    ],
    'webhook.failing': receivers.map((each) => composeFailingMail({ ...each, consecutiveFailures: 5 })),
    'webhook.disabled': receivers.map((each) =>
      composeDisabledMail({ ...each, disabledAt: NOW.toISOString() }),
    ),
  };
}

/** Paths of the dashboard that e-mails link to. */
export function listMailLinks(): string[] {
  const origin = 'https://dashboard.example.com';
  const mails = Object.values(everyMail(origin)).flat();
  const links = mails.flatMap(({ html }) =>
    [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href),
  );
  return [...new Set(links.map((href) => href.replace(origin, '')))];
}
