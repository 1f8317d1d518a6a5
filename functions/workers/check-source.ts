import * as z from 'zod/mini';
import { blockedHosts } from '../domain/blocked-hosts.ts';
import { gate } from '../domain/gate.ts';
import { CHECK_LEASE_SECONDS, EXTRACTION_TIMEOUT_SECONDS, FETCH_TIMEOUT_SECONDS } from '../domain/timing.ts';
import { checkSource } from '../engine/check-source.ts';
import { extractor, sourceContent } from '../knowledge/source-content.ts';
import { queueClient } from '../platform/clients/clients.ts';
import {
  DecimalNumber,
  loopbackReceivers,
  NonEmptyText,
  outboundUserAgent,
  readEnvironment,
  SenderEnvironment,
  WholeNumber,
} from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { CHECKED } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { contentClient } from '../platform/outbound/client.ts';
import { busWorker, processEach } from '../platform/pipeline/worker.ts';
import { setVisibility } from '../platform/queues.ts';
import { openTables } from '../platform/tables.ts';
import { blockedHostStore } from '../store/blocked-hosts.ts';
import { organizationStore, readOrganizationState } from '../store/organizations.ts';
import { checkSlots, sourceChecks } from '../store/source-checks.ts';
import { committer } from '../store/transaction.ts';

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
});
export type CheckSourceEnvironment = z.input<typeof CheckSourceEnvironment>;

const environment = readEnvironment(CheckSourceEnvironment);
const { service, outbox, knowledge } = openTables(environment);
const organizations = organizationStates(readOrganizationState(service));
const hosts = blockedHosts(blockedHostStore(service).all);
const fetchContent = sourceContent({
  gate: gate(organizations.of),
  outbound: contentClient({
    policy: { loopback: loopbackReceivers(), blocks: hosts.blocks },
    timeoutMs: FETCH_TIMEOUT_SECONDS * 1000,
  }),
  extract: extractor({ timeoutMs: EXTRACTION_TIMEOUT_SECONDS * 1000 }),
  userAgent: outboundUserAgent('ConversationService-Knowledge', readEnvironment(SenderEnvironment)),
});

const handle = checkSource(
  {
    sources: sourceChecks(knowledge, outbox, committer(service.client)),
    slots: checkSlots(knowledge, environment.CHECKS_PER_ORGANIZATION),
    organizations: organizationStore(service),
    organizationStates: organizations,
    fetchContent: async (source) => {
      await hosts.refresh();
      return fetchContent(source);
    },
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
