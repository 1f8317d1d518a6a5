import { openTables } from '../aws/clients.ts';
import { KnowledgeEnvironment, readEnvironment, StatsEnvironment } from '../aws/config.ts';
import { keyringSource, secretValue } from '../aws/keyrings.ts';
import type { Change } from '../aws/transaction.ts';
import {
  conversationStore,
  escalationStore,
  messageStore,
  ticketStore,
} from '../conversations/conversations.ts';
import { erasureStore } from '../conversations/erasures.ts';
import { outboxStore } from '../delivery/outbox.ts';
import { deliveryStore } from '../delivery/rows.ts';
import { channelStore } from '../receivers/channels.ts';
import { endpointStore } from '../receivers/endpoints.ts';
import { buildRound, type RedeliveryJob, redeliveryJobs } from '../redelivery/jobs.ts';
import { apiKeyStore } from '../tenancy/api-keys.ts';
import { organizationStore, retentionStore, sandboxStore } from '../tenancy/organizations.ts';
import { purgeStore } from '../tenancy/purge.ts';
import { environment, tables } from './route-handler.ts';

/*
 * Stores and keys that routes share. The marks let a bundle contain only those of its route.
 */

const { service, outbox: outboxTable, deliveries: deliveryTable } = tables;
const { CURSOR_KEYS, SIGNING_KEYS } = environment;

export const organizations = /* @__PURE__ */ organizationStore(service);
export const retentions = /* @__PURE__ */ retentionStore(service);
export const sandboxes = /* @__PURE__ */ sandboxStore(service);
export const apiKeys = /* @__PURE__ */ apiKeyStore(service);
export const purges = /* @__PURE__ */ purgeStore(service);
export const conversations = /* @__PURE__ */ conversationStore(service);
export const messages = /* @__PURE__ */ messageStore(service);
export const escalations = /* @__PURE__ */ escalationStore(service);
export const tickets = /* @__PURE__ */ ticketStore(service);
export const erasures = /* @__PURE__ */ erasureStore(service);
export const channels = /* @__PURE__ */ channelStore(service);
export const endpoints = /* @__PURE__ */ endpointStore(service);
export const outbox = /* @__PURE__ */ outboxStore(outboxTable);
export const deliveries = /* @__PURE__ */ deliveryStore(deliveryTable);
export const jobs = /* @__PURE__ */ redeliveryJobs(service);

/** Adds a job and the notice that starts it. */
export const startJob = (job: RedeliveryJob, now: Date): Change[] => [
  ...jobs.start(job),
  outbox.appendNotice(buildRound(job, 1, now)),
];

/** Variables that only functions with these tables have. */
const openKnowledge = () => openTables(readEnvironment(KnowledgeEnvironment), service.client).knowledge;
const openLedger = () => openTables(readEnvironment(StatsEnvironment), service.client).ledger;
export const knowledge = /* @__PURE__ */ openKnowledge();
export const ledger = /* @__PURE__ */ openLedger();

/** Seal cursors and visitor tokens. */
export const cursorKeys = /* @__PURE__ */ keyringSource(/* @__PURE__ */ secretValue(CURSOR_KEYS));
/** Signing secrets are derived from them. */
export const signingKeys = /* @__PURE__ */ keyringSource(/* @__PURE__ */ secretValue(SIGNING_KEYS));
