import { gate } from '../domain/gate.ts';
import { CHECK_LEASE_SECONDS, EXTRACTION_TIMEOUT_SECONDS, FETCH_TIMEOUT_SECONDS } from '../domain/timing.ts';
import { checkSource } from '../engine/check-source.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { CheckSourceEnvironment, loopbackReceivers, readEnvironment } from '../platform/config.ts';
import { extractor } from '../platform/extraction/extractor.ts';
import { logger } from '../platform/logger.ts';
import { CHECKED } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { outboundClient } from '../platform/outbound/client.ts';
import { busWorker, oneByOne } from '../platform/pipeline/bus-worker.ts';
import { sourceContent } from '../platform/source-content.ts';
import { standings } from '../platform/standings.ts';
import { organizationStore, standingOf } from '../store/organizations.ts';
import { sourceChecks } from '../store/source-checks.ts';
import { committer } from '../store/transaction.ts';

const environment = readEnvironment(CheckSourceEnvironment);
const client = documentClient();
const service = { client, name: environment.SERVICE_TABLE };
const organizations = standings(standingOf(service));

const deal = checkSource(
  {
    sources: sourceChecks(
      { client, name: environment.KNOWLEDGE_TABLE },
      { client, name: environment.OUTBOX_TABLE },
      committer(client),
    ),
    organizations: organizationStore(service),
    standings: organizations,
    look: sourceContent({
      gate: gate(organizations.of),
      outbound: outboundClient({
        policy: { loopback: loopbackReceivers() },
        timeoutMs: FETCH_TIMEOUT_SECONDS * 1000,
      }),
      extract: extractor({ timeoutMs: EXTRACTION_TIMEOUT_SECONDS * 1000 }),
    }),
    onChecked(outcome) {
      count(CHECKED.checked);
      if (outcome.kind === 'failed') count(CHECKED.failed);
    },
    log: logger.log,
    now: () => new Date(),
    random: Math.random,
  },
  { checkEverySeconds: environment.CHECK_EVERY_SECONDS, leaseSeconds: CHECK_LEASE_SECONDS },
);

/** Takes events of sources from their queue: each check apart, all of a batch at once. */
export const handler = busWorker('check-source', oneByOne(deal, logger.log));
