import { describe, expect, it } from 'vitest';
import { aDashboard, chromium } from './a-dashboard.ts';
import { apiKeys, sandbox } from './dashboard/organization.ts';
import { security } from './dashboard/security.ts';
import { membership, signingIn } from './dashboard/sign-in.ts';
import { deliveries, endpoints } from './dashboard/webhooks.ts';

/** The dashboard as people use it: the local run, and a real browser. What goes wrong on the way is deep. */
describe.skipIf(chromium === undefined)('the dashboard', () => {
  const dashboard = aDashboard({ RETRY_BASE_SECONDS: '0', RETRY_CAP_SECONDS: '0' });

  signingIn(dashboard);
  membership(dashboard);
  endpoints(dashboard);
  deliveries(dashboard);
  apiKeys(dashboard);
  sandbox(dashboard);
  security(dashboard);

  it('asked no other origin for anything, and did nothing that its content security policy forbids', () => {
    dashboard.expectNoMisdeeds();
    expect(chromium).toBeDefined();
  });
});
