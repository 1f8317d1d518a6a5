import { CLAIMS } from './claims.ts';
import { COUNTS } from './counts.ts';
import { CUSTOMERS } from './customers.ts';
import { LIMITS } from './limits.ts';
import { MAILS } from './mails.ts';
import { MESSAGES } from './messages.ts';
import type { Mutation } from './mutation.ts';
import { SANDBOXES } from './sandboxes.ts';
import { TURNS_BY_ORGANIZATION } from './turns.ts';

export const MUTATIONS: readonly Mutation[] = [
  ...CLAIMS,
  ...MESSAGES,
  ...COUNTS,
  ...LIMITS,
  ...SANDBOXES,
  ...CUSTOMERS,
  ...TURNS_BY_ORGANIZATION,
  ...MAILS,
];
