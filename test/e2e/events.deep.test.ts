import { describe, it } from 'vitest';
import { aDashboard, chromium } from './a-dashboard.ts';
import { events } from './dashboard/events.ts';

/** Events of the dashboard, in an organization whose endpoints are those of the test. */
describe.skipIf(chromium === undefined)('the events of the dashboard', () => {
  const dashboard = aDashboard();

  events(dashboard, { isWhole: true });

  it('request no other origin, and violate no content security policy', () => {
    dashboard.expectNoMisdeeds();
  });
});
