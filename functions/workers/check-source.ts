import * as z from 'zod/mini';
import { lambdaClient, openTables, queueClient } from '../aws/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment, WholeNumber } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { CHECKED, count } from '../aws/metrics.ts';
import { committer } from '../aws/transaction.ts';
import { setVisibility } from '../delivery/queues.ts';
import { CHECK_LEASE_SECONDS, INVOKE_TIMEOUT_SECONDS } from '../delivery/timing.ts';
import { busWorker, processEach } from '../events/worker.ts';
import { checkSource } from '../knowledge/check-source.ts';
import { extraction } from '../knowledge/extraction.ts';
import { checkSlots, sourceChecks } from '../knowledge/source-checks.ts';
import { sourceContent } from '../knowledge/source-content.ts';
import { blockedHostStore, blockedHosts } from '../receivers/receiver-url.ts';
import { gate } from '../tenancy/gate.ts';
import { organizationStates, organizationStore, readOrganizationState } from '../tenancy/organizations.ts';

export const CheckSourceEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  KNOWLEDGE_TABLE: NonEmptyText,
  /** Seconds between two checks of a source. */
  CHECK_EVERY_SECONDS: DecimalNumber,
  /** Concurrent checks of one organization. */
  CHECKS_PER_ORGANIZATION: WholeNumber,
  /** The worker's own queue, in which refused messages wait. */
  CHECKS_QUEUE: NonEmptyText,
  /** The function that fetches and extracts a content. */
  EXTRACT_FUNCTION: NonEmptyText,
});

const environment = readEnvironment(CheckSourceEnvironment);
const { service, outbox, knowledge } = openTables(environment);
const organizations = organizationStates(readOrganizationState(service));
const hosts = blockedHosts(blockedHostStore(service).all);

const handle = checkSource(
  {
    sources: sourceChecks(knowledge, outbox, committer(service.client)),
    slots: checkSlots(knowledge, environment.CHECKS_PER_ORGANIZATION),
    organizations: organizationStore(service),
    organizationStates: organizations,
    fetchContent: sourceContent({
      gate: gate(organizations.of),
      organizations,
      blockedHosts: hosts.list,
      extract: extraction(
        {
          client: lambdaClient(INVOKE_TIMEOUT_SECONDS * 1000),
          functionName: environment.EXTRACT_FUNCTION,
        },
        logger.log,
      ),
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

/** Processes events of sources, all of a batch at once. */
export const handler = busWorker(
  'check-source',
  processEach(handle, logger.log),
  setVisibility(queueClient(), environment.CHECKS_QUEUE),
);
