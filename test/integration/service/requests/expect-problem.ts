import { expect } from 'vitest';
import type { Answer } from '../../../support/api.ts';

/** What every error is: the envelope, with the id that the header has. */
export function expectProblem(answer: Answer, status: number, type: string, message = /./): void {
  expect([answer.status, answer.body.error?.type]).toEqual([status, type]);
  expect(answer.body.error?.requestId).toBe(answer.headers['request-id']);
  expect(answer.body.error?.message).toMatch(message);
}
