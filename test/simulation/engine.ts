import { gate, requirePermit } from '../../functions/domain/gate.ts';
import { audit } from '../../functions/engine/audit.ts';
import { deadEntries, deadReminder, nameOfOwed } from '../../functions/engine/dead-letters.ts';
import { dispatch } from '../../functions/engine/dispatch.ts';
import { dispatcher } from '../../functions/engine/dispatcher.ts';
import { fanOut } from '../../functions/engine/fan-out.ts';
import { purge } from '../../functions/engine/purge.ts';
import { reconcile } from '../../functions/engine/reconcile.ts';
import { watch } from '../../functions/engine/watch.ts';
import { standings } from '../../functions/platform/standings.ts';
import { simulatedReceiver } from '../../functions/platform/webhook-sender.ts';

/** The code that processes run, apart from what it is stored with. */
export const PRESENT = {
  audit,
  deadEntries,
  deadReminder,
  dispatch,
  dispatcher,
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
