import { gate, requirePermit } from '../../functions/domain/gate.ts';
import { attemptDelivery } from '../../functions/engine/attempt-delivery.ts';
import { auditLedger } from '../../functions/engine/audit-ledger.ts';
import {
  getOutboxWorkName,
  processDeadDeliveryMessage,
  processDeadEntries,
} from '../../functions/engine/dead-letters.ts';
import { processDeliveryStream } from '../../functions/engine/delivery-stream.ts';
import { endpointTurns } from '../../functions/engine/endpoint-turns.ts';
import { fanOut } from '../../functions/engine/fan-out.ts';
import { processDeliveryMessages } from '../../functions/engine/process-delivery-messages.ts';
import { purgeSandboxes } from '../../functions/engine/purge.ts';
import { reconcileDeliveries } from '../../functions/engine/reconcile.ts';
import { organizationStates } from '../../functions/platform/organization-states.ts';
import { simulatedReceiver } from '../../functions/platform/webhook-sender.ts';

/** The code that processes run, without its stores. */
export const PRESENT = {
  attemptDelivery,
  auditLedger,
  endpointTurns,
  fanOut,
  gate,
  getOutboxWorkName,
  organizationStates,
  processDeadDeliveryMessage,
  processDeadEntries,
  processDeliveryMessages,
  processDeliveryStream,
  purgeSandboxes,
  reconcileDeliveries,
  requirePermit,
  simulatedReceiver,
};
export type Engine = typeof PRESENT;
