/*
 * The service's clock. The browser's own may be wrong, and due times depend on it.
 */

/** By how much the service's clock is ahead of the browser's, in milliseconds. */
let ahead = 0;

/**
 * Takes the time of an answer.
 * @param askedFor how long ago it was asked for, in milliseconds
 * @returns the service's time when it was asked for, or up to a second before, in milliseconds since the
 * epoch; the browser's if the answer has none
 */
export function timeAsked(response: Response, askedFor: number): number {
  const told = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(told)) ahead = told - Date.now();
  return Date.now() + ahead - askedFor;
}

/** Milliseconds since the epoch, to a second. */
export const serviceNow = (): number => Date.now() + ahead;
