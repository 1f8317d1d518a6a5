/*
 * What of a version of the code works with others on the same tables, queues and streams. `freeze.ts` makes one file of it for the version before,
 * so it names nothing but the functions' own modules.
 */
import { processReminders, type ReminderPorts } from '../../functions/engine/process-reminders.ts';

export { Reminder } from '../../functions/domain/delivery.ts';
export { GateClosed, gate, requirePermit } from '../../functions/domain/gate.ts';
export { attemptDelivery as dispatch } from '../../functions/engine/attempt-delivery.ts';
export { audit } from '../../functions/engine/audit.ts';
export { deadEntries, deadReminder, nameOfOwed } from '../../functions/engine/dead-letters.ts';
export { fanOut } from '../../functions/engine/fan-out.ts';
export { purge } from '../../functions/engine/purge.ts';
export { reconcile } from '../../functions/engine/reconcile.ts';
export { watch } from '../../functions/engine/watch.ts';
export { deliveryQueues } from '../../functions/platform/queues.ts';
export { standings } from '../../functions/platform/standings.ts';
export { simulatedReceiver } from '../../functions/platform/webhook-sender.ts';
export { deliveryMoves, deliveryOf, deliveryStore } from '../../functions/store/deliveries.ts';
export { deliveryContexts } from '../../functions/store/delivery-context.ts';
export { dueIndex } from '../../functions/store/due-index.ts';
export { endpointStore } from '../../functions/store/endpoints.ts';
export {
  DELIVERY_SHARDS,
  DUE_SHARDS,
  LEDGER_SHARDS,
  shards,
} from '../../functions/store/keys.ts';
export { deliveriesInHour, ledgerStore } from '../../functions/store/ledger.ts';
export { organizationStore, sandboxStore, standingOf } from '../../functions/store/organizations.ts';
export { outboxStore, owedBy } from '../../functions/store/outbox.ts';
export { purgeStore, remainsIn } from '../../functions/store/purges.ts';
export { committer } from '../../functions/store/transaction.ts';

/** As the version before names what a batch does with one reminder. */
export const dispatcher = ({
  deal,
  ...ports
}: Omit<ReminderPorts, 'attempt'> & { deal: ReminderPorts['attempt'] }) =>
  processReminders({ attempt: deal, ...ports });
