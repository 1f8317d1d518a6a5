import { describe, expect, it } from 'vitest';
import { aService } from '../integration/service/a-service.ts';
import { dashboard } from '../integration/service/local-run/dashboard.ts';
import { documents } from '../integration/service/local-run/documents.ts';
import { hosts } from '../integration/service/local-run/hosts.ts';
import { operating } from '../integration/service/local-run/operate.ts';
import { verification } from '../integration/service/local-run/verification.ts';
import { events } from './dashboard/events.ts';
import { apiKeys, sandbox } from './dashboard/organization.ts';
import { security } from './dashboard/security.ts';
import { membership, signingIn } from './dashboard/sign-in.ts';
import { deliveries, endpoints } from './dashboard/webhooks.ts';
import { aDashboard, chromium, WITHOUT_WAITS } from './dashboard-fixture.ts';

/*
 * A run as `npm start` starts it, for tests that need one: the documentation's commands, the dashboard and
 * sign-in, the operator's commands and the verification.
 */
const service = aService(WITHOUT_WAITS);
const EXTENT = { isWhole: false };

// First, because a reader starts with an organization without endpoints.
describe('the documentation', () => documents(service));
describe('the dashboard', () => dashboard(service));

/** What users do most in the dashboard, in a real browser. The deep tests have everything else. */
describe.skipIf(chromium === undefined)('the dashboard in a browser', () => {
  const browser = aDashboard(service, { sharesContexts: true });

  signingIn(browser, EXTENT);
  membership(browser, EXTENT);
  endpoints(browser, EXTENT);
  deliveries(browser, EXTENT);
  events(browser, EXTENT);
  apiKeys(browser, EXTENT);
  sandbox(browser, EXTENT);
  security(browser, EXTENT);

  it('requests no other origin, and violates no content security policy', () => {
    browser.expectNoMisdeeds();
    expect(chromium).toBeDefined();
  });
});

describe('the verification', () => verification(service));
describe('the operator', () => operating(service));
describe('a receiving host', () => hosts(service));
