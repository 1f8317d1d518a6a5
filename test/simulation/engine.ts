import { gate, requirePermit } from '../../functions/domain/gate.ts';
import { attemptDelivery } from '../../functions/engine/attempt-delivery.ts';
import { audit } from '../../functions/engine/audit.ts';
import { deadEntries, deadReminder, nameOfOwed } from '../../functions/engine/dead-letters.ts';
import { fanOut } from '../../functions/engine/fan-out.ts';
import { processReminders, type ReminderPorts } from '../../functions/engine/process-reminders.ts';
import { purge } from '../../functions/engine/purge.ts';
import { reconcile } from '../../functions/engine/reconcile.ts';
import { watch } from '../../functions/engine/watch.ts';
import { standings } from '../../functions/platform/standings.ts';
import { simulatedReceiver } from '../../functions/platform/webhook-sender.ts';

/** As frozen versions name what a batch does with one reminder. */
const batchesOf = ({ deal, ...ports }: Omit<ReminderPorts, 'attempt'> & { deal: ReminderPorts['attempt'] }) =>
  processReminders({ attempt: deal, ...ports });

/** The code that processes run, apart from what it is stored with. */
export const PRESENT = {
  audit,
  deadEntries,
  deadReminder,
  dispatch: attemptDelivery,
  dispatcher: batchesOf,
  fanOut,
  gate,
  nameOfOwed,
  purge,
  reconcile,
  requirePermit,
  simulatedReceiver,
  standings,
  watch,
};
export type Engine = typeof PRESENT;
