/*
 * The code of a version that runs beside another version on the same tables, queues and streams. `freeze.ts`
 * bundles it for the previous version, so it only exports modules of the functions.
 */
export { DeliveryMessage } from '../../functions/domain/delivery.ts';
export { GateClosed, gate, requirePermit } from '../../functions/domain/gate.ts';
export { attemptDelivery } from '../../functions/engine/attempt-delivery.ts';
export { auditLedger } from '../../functions/engine/audit-ledger.ts';
export {
  getOutboxWorkName,
  processDeadDeliveryMessage,
  processDeadEntries,
} from '../../functions/engine/dead-letters.ts';
export { processDeliveryStream } from '../../functions/engine/delivery-stream.ts';
export { endpointTurns } from '../../functions/engine/endpoint-turns.ts';
export { fanOut } from '../../functions/engine/fan-out.ts';
export { processDeliveryMessages } from '../../functions/engine/process-delivery-messages.ts';
export { purgeSandboxes } from '../../functions/engine/purge.ts';
export { reconcileDeliveries } from '../../functions/engine/reconcile.ts';
export { organizationStates } from '../../functions/platform/organization-states.ts';
export { deliveryQueues } from '../../functions/platform/queues.ts';
export { simulatedReceiver } from '../../functions/platform/webhook-sender.ts';
export { deliveryMoves, deliveryStore, parseDelivery } from '../../functions/store/deliveries.ts';
export { deliveryContexts } from '../../functions/store/delivery-context.ts';
export { dueIndex } from '../../functions/store/due-index.ts';
export { endpointStore } from '../../functions/store/endpoints.ts';
export {
  DELIVERY_SHARDS,
  DUE_SHARDS,
  LEDGER_SHARDS,
  listShards,
} from '../../functions/store/keys.ts';
export { deliveriesInHour, ledgerStore } from '../../functions/store/ledger.ts';
export {
  organizationStore,
  readOrganizationState,
  sandboxStore,
} from '../../functions/store/organizations.ts';
export { outboxStore, parseOutboxRecord } from '../../functions/store/outbox.ts';
export { hasRows, purgeStore } from '../../functions/store/purges.ts';
export { committer } from '../../functions/store/transaction.ts';
