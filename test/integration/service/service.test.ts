import { afterAll, describe, expect } from 'vitest';
import { casesOf } from '../../support/cases.ts';
import { anOrganization } from './an-organization.ts';
import { changedContent } from './background/changed-content.ts';
import { channels } from './background/channels.ts';
import { deadLetters } from './background/dead-letters.ts';
import { disablingMail } from './background/disabling-mail.ts';
import { failingWorker } from './background/failing-worker.ts';
import { mailBudget } from './background/mail-budget.ts';
import { recovery as recoveryOfLostWork } from './background/recovery.ts';
import { recursion, STOPPED_IN_LOOPS } from './background/recursion.ts';
import { redeliveries as redeliveryJobs } from './background/redeliveries.ts';
import { sourceChecks } from './background/source-checks.ts';
import { usage } from './background/usage.ts';
import { aPlace, UNLIMITED } from './place.ts';
import { FAULTS } from './rare-branches/branches.ts';
import { testRareBranches } from './rare-branches/rare-branches.ts';
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
import { parity } from './sandbox/parity.ts';

/** A low limit that twelve sources exceed. */
const MAIL_BUDGET = casesOf(4, 20);
const CHECKS_PER_ORGANIZATION = 2;

/*
 * Requests by resource, the deliveries that they cause, sandboxes beside their live organizations, and the
 * workers behind the event bus: without waits between attempts, and with an attempt timeout that leaves time
 * for a receiver that is held. Two functions that feed their own queues lack RecursiveLoop.
 */
const place = aPlace({
  context: {
    ...UNLIMITED,
    retryBaseSeconds: 0,
    retryCapSeconds: 0,
    attemptTimeoutSeconds: 20,
    watchWindowSeconds: 1,
    syncCooldownSeconds: 0,
    checksPerOrganization: CHECKS_PER_ORGANIZATION,
    mailBudget: MAIL_BUDGET,
  },
  stoppedInLoops: STOPPED_IN_LOOPS,
  faults: FAULTS,
});

afterAll(() => {
  const failures = place
    .log()
    .filter(({ source, text }) => source === 'gateway' || text.includes('REQUEST_FAILED'));
  expect(failures, 'requests that failed unexpectedly').toEqual([]);
});

// First, because nothing else runs beside it.
describe('rare branches', () => testRareBranches(place));

describe('webhooks', () => webhooks(anOrganization(place)));
describe('conversations', () => conversations(anOrganization(place)));
describe('knowledge', () => knowledge(anOrganization(place)));
describe('settings', () => settings(anOrganization(place)));
describe('the audit log', () => auditLog(anOrganization(place)));
// Consecutive concurrent suites run beside each other. The longest first, because most of them wait.
describe.concurrent('delivery behavior', () => {
  recovery(anOrganization(place));
  deliveries(anOrganization(place));
  redeliveries(anOrganization(place));
  endpointLimit(anOrganization(place));
  events(anOrganization(place));
  webhookStats(anOrganization(place));
  describe('a sandbox', () => parity(place));
});
redeliveryJobs(place);
channels(place);
deadLetters(place);
usage(place);
disablingMail(place);

describe('content', () => changedContent(place));
recoveryOfLostWork(place);
sourceChecks(place, CHECKS_PER_ORGANIZATION);
mailBudget(place, MAIL_BUDGET);
// Its unreadable rows delay the events of others.
describe('a function that feeds its own queue', () => recursion(place));
// Last, because no event is counted afterwards.
describe('a worker that fails on everything', () => failingWorker(place));
