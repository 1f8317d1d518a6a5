import type { Source } from '../api/sources.ts';
import type { Delivery } from '../api/webhooks.ts';
import type { Texts } from './en.ts';
import { t } from './language.ts';

/** Why an attempt failed, as the API has it. */
export type AttemptFailure = Pick<Delivery, 'lastError' | 'lastErrorCode' | 'lastResponseStatus'>;
type AttemptErrorCode = NonNullable<Delivery['lastErrorCode']>;

/** Errors whose text in the API says no more than their text here. */
const COMPLETE: readonly AttemptErrorCode[] = ['http_status', 'redirect', 'lost'];

/** An attempt's error in the reader's language, by its code; what the API says of it follows. */
export function errorTextOf(
  { attemptErrors }: Pick<Texts, 'attemptErrors'>,
  { lastError, lastErrorCode: code, lastResponseStatus }: AttemptFailure,
): string {
  // A later version of the API may have added codes.
  const text = code === null ? undefined : attemptErrors[code]?.(lastResponseStatus);
  if (code === null || text === undefined) return lastError ?? '';
  return COMPLETE.includes(code) || lastError === null ? text : `${text}: ${lastError}`;
}

/** Why a check of a source failed, in the reader's language, by its code; what the API says of it follows. */
export function sourceErrorTextOf(
  { attemptErrors, sources }: Pick<Texts, 'attemptErrors' | 'sources'>,
  { lastError, lastErrorCode: code }: Pick<Source, 'lastError' | 'lastErrorCode'>,
): string {
  const texts: Partial<Texts['attemptErrors']> = { ...attemptErrors, ...sources.errors };
  const text = code === null ? undefined : texts[code]?.(null);
  return text === undefined ? (lastError ?? '') : `${text}: ${lastError}`;
}

export const errorText = (failure: AttemptFailure): string => errorTextOf(t, failure);
export const sourceErrorText = (source: Pick<Source, 'lastError' | 'lastErrorCode'>): string =>
  sourceErrorTextOf(t, source);
