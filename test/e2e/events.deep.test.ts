import { describe, it } from 'vitest';
import { events } from './dashboard/events.ts';
import { manyEvents, noEvents, reconnection } from './dashboard/many-events.ts';
import { aDashboard, chromium } from './dashboard-fixture.ts';

/** Events of the dashboard, in an organization whose endpoints are those of the test. */
describe.skipIf(chromium === undefined)('the events of the dashboard', () => {
  const dashboard = aDashboard();

  events(dashboard, { isWhole: true });
  noEvents(dashboard);
  reconnection(dashboard);
  manyEvents(dashboard);

  it('request no other origin, and violate no content security policy', () => {
    dashboard.expectNoMisdeeds();
  });
});
