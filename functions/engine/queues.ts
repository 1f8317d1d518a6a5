import type { Reminder } from '../domain/delivery.ts';

/** A message to be sent. */
export interface Outgoing {
  reminder: Reminder;
  /** Until when it is held back; at once when absent or past. */
  until?: Date;
}
