/** What the engine needs of a logger: the codes that there are, and nothing of how they are written. */
export type { Log } from '../platform/log-codes.ts';
