import { describe, expect, it } from 'vitest';
import { auditLog, eventTypes, firstSteps, reference } from './dashboard/catalogue.ts';
import { channels } from './dashboard/channels.ts';
import { apiKeys, sandbox } from './dashboard/organization.ts';
import { recovery } from './dashboard/recovery.ts';
import { security } from './dashboard/security.ts';
import { membership, signingIn } from './dashboard/sign-in.ts';
import { deliveries, endpoints } from './dashboard/webhooks.ts';
import { aDashboard, chromium } from './dashboard-fixture.ts';

const EXTENT = { isWhole: true };

/** The dashboard of a local run in a real browser. Failures have a file of their own. */
describe.skipIf(chromium === undefined)('the dashboard', () => {
  const dashboard = aDashboard();

  signingIn(dashboard, EXTENT);
  membership(dashboard, EXTENT);
  endpoints(dashboard, EXTENT);
  deliveries(dashboard, EXTENT);
  recovery(dashboard);
  channels(dashboard);
  apiKeys(dashboard, EXTENT);
  sandbox(dashboard, EXTENT);
  eventTypes(dashboard);
  auditLog(dashboard);
  firstSteps(dashboard);
  reference(dashboard);
  security(dashboard, EXTENT);

  it('requests no other origin, and violates no content security policy', () => {
    dashboard.expectNoMisdeeds();
    expect(chromium).toBeDefined();
  });
});
