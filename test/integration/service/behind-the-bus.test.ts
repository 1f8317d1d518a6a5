import { channels } from './background/channels.ts';
import { deadLetters } from './background/dead-letters.ts';
import { disablingMail } from './background/disabling-mail.ts';
import { mailBudget } from './background/mail-budget.ts';
import { partialFailures } from './background/partial-failures.ts';
import { recovery } from './background/recovery.ts';
import { redeliveries } from './background/redeliveries.ts';
import { sourceChecks } from './background/source-checks.ts';
import { usage } from './background/usage.ts';
import { aPlace } from './place.ts';

/** A low limit that sixty sources exceed. */
const MAIL_BUDGET = 20;

/* The workers behind the event bus without failures, and without waits between attempts. */
const place = aPlace({
  context: {
    retryBaseSeconds: 0,
    retryCapSeconds: 0,
    attemptTimeoutSeconds: 2,
    watchWindowSeconds: 1,
    checksPerOrganization: 2,
    mailBudget: MAIL_BUDGET,
  },
});

channels(place);
recovery(place);
redeliveries(place);
usage(place);
deadLetters(place);
partialFailures(place);
disablingMail(place);
sourceChecks(place, 2);
mailBudget(place, MAIL_BUDGET);
