import { afterAll, describe, expect } from 'vitest';
import { anOrganization } from './an-organization.ts';
import { aPlace } from './place.ts';
import { auditLog } from './requests/audit-log.ts';
import { conversations } from './requests/conversations.ts';
import { deliveries } from './requests/deliveries.ts';
import { endpointLimit } from './requests/endpoint-limit.ts';
import { events } from './requests/events.ts';
import { knowledge } from './requests/knowledge.ts';
import { recovery } from './requests/recovery.ts';
import { redeliveries } from './requests/redeliveries.ts';
import { settings } from './requests/settings.ts';
import { webhookStats } from './requests/webhook-stats.ts';
import { webhooks } from './requests/webhooks.ts';

/*
 * Requests by resource, and the deliveries that they cause: without waits between attempts, and with an
 * attempt timeout that leaves time for a receiver that is held.
 */
const place = aPlace({
  context: {
    retryBaseSeconds: 0,
    retryCapSeconds: 0,
    attemptTimeoutSeconds: 20,
    watchWindowSeconds: 1,
    syncCooldownSeconds: 0,
  },
});

afterAll(() => {
  const failures = place
    .log()
    .filter(({ source, text }) => source === 'gateway' || text.includes('REQUEST_FAILED'));
  expect(failures, 'requests that failed unexpectedly').toEqual([]);
});

describe('webhooks', () => webhooks(anOrganization(place)));
describe('conversations', () => conversations(anOrganization(place)));
describe('knowledge', () => knowledge(anOrganization(place)));
describe('settings', () => settings(anOrganization(place)));
describe('the audit log', () => auditLog(anOrganization(place)));
describe.concurrent('delivery behavior', () => {
  deliveries(anOrganization(place));
  redeliveries(anOrganization(place));
  endpointLimit(anOrganization(place));
  events(anOrganization(place));
  recovery(anOrganization(place));
  webhookStats(anOrganization(place));
});
