import { describe, it } from 'vitest';
import { aDashboard, chromium } from './a-dashboard.ts';
import { appearance } from './dashboard/appearance.ts';

/**
 * What the dashboard looks like. Beside the other file: that one waits most of the time, and this one paints
 * and computes.
 */
describe.skipIf(chromium === undefined)('the look of the dashboard', () => {
  const dashboard = aDashboard({ RETRY_BASE_SECONDS: '0', RETRY_CAP_SECONDS: '0' });

  appearance(dashboard);

  it('needs nothing of another origin, and nothing that the content security policy forbids', () => {
    dashboard.expectNoMisdeeds();
  });
});
