import { describe, it } from 'vitest';
import { aService } from '../integration/service/a-service.ts';
import { jobs } from './dashboard/jobs.ts';
import { aDashboard, chromium, WITHOUT_WAITS } from './dashboard-fixture.ts';

/** What users come to the dashboard for. */
describe.skipIf(chromium === undefined)('with the dashboard', () => {
  const dashboard = aDashboard(aService({ ...WITHOUT_WAITS, SYNC_COOLDOWN_SECONDS: '0' }));

  jobs(dashboard);

  it('requests no other origin, and violates no content security policy', () => {
    dashboard.expectNoMisdeeds();
  });
});
