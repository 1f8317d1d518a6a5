import { unavailable } from '../domain/problem.ts';
import type { Reply } from './reply.ts';

/** Each time that one is used up, another request has got its way. */
const ATTEMPTS = 4;

/**
 * Runs an attempt that reads an item, decides by it and commits on the condition that it is still so. Where it is not, the
 * attempt asks for another one, which reads again: what is decided then is decided by what is there.
 * @returns the reply of the last attempt, or 503 when the item was changed under each of four
 */
export async function optimistic(
  attempt: (again: () => Promise<Reply>) => Promise<Reply>,
  left = ATTEMPTS,
): Promise<Reply> {
  return left === 0 ? unavailable() : attempt(() => optimistic(attempt, left - 1));
}
