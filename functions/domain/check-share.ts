/**
 * Receives of a message that its organization's share has refused, before the check is left to the due index.
 */
export const MAX_REFUSALS = 15;

const GROWTH = 1.5;
const LONGEST_SECONDS = 30;

/**
 * For how long a message is hidden whose check the organization's share has refused: 1 s at first, half as
 * much again with each receive, 30 s at most. Short, because most checks take less than a second; all waits
 * together are shorter than `RESEND_SECONDS`, so that a source has about one message at a time.
 * @param random from 0 to 1; up to half of the wait is left out
 */
export const refusedSeconds = (receives: number, random: number): number =>
  Math.ceil(Math.min(GROWTH ** (receives - 1), LONGEST_SECONDS) * (1 - random / 2));
