import { describe, it } from 'vitest';
import { expiring } from './dashboard/sign-in.ts';
import { trouble } from './dashboard/trouble.ts';
import { aDashboard, chromium } from './dashboard-fixture.ts';

/** The dashboard while sessions end, networks fail and files are missing. */
describe.skipIf(chromium === undefined)('the dashboard with failures', () => {
  const dashboard = aDashboard();

  expiring(dashboard);
  trouble(dashboard);

  it('requests no other origin, and violates no content security policy', () => {
    dashboard.expectNoMisdeeds();
  });
});
