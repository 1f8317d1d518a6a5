import { CLAIMS } from './claims.ts';
import { COUNTS } from './counts.ts';
import { CUSTOMERS } from './customers.ts';
import { LIMITS } from './limits.ts';
import { MAILS_AND_TURNS } from './mails-and-turns.ts';
import { MESSAGES } from './messages.ts';
import type { Mutation } from './mutation.ts';
import { SANDBOXES } from './sandboxes.ts';

export const MUTATIONS: readonly Mutation[] = [
  ...CLAIMS,
  ...MESSAGES,
  ...COUNTS,
  ...LIMITS,
  ...SANDBOXES,
  ...CUSTOMERS,
  ...MAILS_AND_TURNS,
];
