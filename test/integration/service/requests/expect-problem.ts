import { expect } from 'vitest';
import type { Answer } from '../../../support/api.ts';

/** Checks the error envelope, with the request id of the header. */
export function expectProblem(answer: Answer, status: number, type: string, message = /./): void {
  expect([answer.status, answer.body.error?.type]).toEqual([status, type]);
  expect(answer.body.error?.requestId).toBe(answer.headers['request-id']);
  expect(answer.body.error?.message).toMatch(message);
}
