import { describe, it } from 'vitest';
import { appearance } from './dashboard/appearance.ts';
import { aDashboard, chromium } from './dashboard-fixture.ts';

/**
 * The appearance of the dashboard. In a file of its own, because its tests compute while those of the other
 * file wait.
 */
describe.skipIf(chromium === undefined)('the appearance of the dashboard', () => {
  const dashboard = aDashboard();

  appearance(dashboard);

  it('needs no other origin, and violates no content security policy', () => {
    dashboard.expectNoMisdeeds();
  });
});
